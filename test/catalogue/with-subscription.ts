import path from 'node:path';

// Builds the Worker with one more kind of event, by exactly the changes that adding `subscription.ts` requires.

const KIND = path.join(import.meta.dirname, 'subscription.ts');

const EDITS: { file: string; lines: [before: string, after: string][] }[] = [
  {
    file: '/src/catalogue/events/index.ts',
    lines: [
      ['import ', `import { subscription } from '${KIND}';\nimport `],
      ['retention, purchase', 'retention, subscription, purchase'],
    ],
  },
  {
    file: '/src/catalogue/measures.ts',
    lines: [["'ended_sessions',\n] as const", "'ended_sessions',\n  'subscriptions',\n] as const"]],
  },
];

/** A plugin of Vite. Throws where a file that it edits has changed its form. */
export const withSubscription = {
  name: 'with-subscription',
  enforce: 'pre' as const,
  transform(code: string, file: string): string | undefined {
    const edit = EDITS.find((one) => file.endsWith(one.file));
    return edit?.lines.reduce((text, [before, after]) => {
      if (!text.includes(before)) throw new Error(`${edit.file} has no ${before}`);
      return text.replace(before, after);
    }, code);
  },
};
