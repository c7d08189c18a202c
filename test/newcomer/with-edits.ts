import type { VitestPluginContext } from 'vitest/node';

/** A change of one place in a file of the source. */
export type Edit = { file: string; before: string; after: string };

/** A plugin of Vite that builds the Worker with changes. Throws where a file no longer has what a change replaces. */
export const withEdits = (name: string, edits: readonly Edit[]) => ({
  name,
  enforce: 'pre' as const,
  // A transformed file is kept for later runs, which may have other edits.
  configureVitest: ({ defineCacheKeyGenerator }: VitestPluginContext) => {
    defineCacheKeyGenerator(() => JSON.stringify(edits));
  },
  transform(code: string, file: string): string | undefined {
    const own = edits.filter((one) => file.endsWith(one.file));
    if (own.length === 0) return undefined;
    return own.reduce((text, { before, after }) => {
      if (!text.includes(before)) throw new Error(`${file} has no ${before}`);
      return text.replace(before, after);
    }, code);
  },
});
