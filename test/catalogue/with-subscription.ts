import { type Edit, withEdits } from '../newcomer/with-edits.ts';

// Builds the Worker with one more kind of event, by exactly the changes that adding `subscription.ts` requires.

export const KIND_EDITS: readonly Edit[] = [
  {
    file: '/src/catalogue/events/index.ts',
    before: 'import ',
    after: `import { subscription } from '../../../test/catalogue/subscription.ts';\nimport `,
  },
  {
    file: '/src/catalogue/events/index.ts',
    before: '  retention,\n  purchase,',
    after: '  retention,\n  subscription,\n  purchase,',
  },
  {
    file: '/src/catalogue/measures.ts',
    before: "'returned_revenue',\n  // What",
    after: "'returned_revenue',\n  'subscriptions',\n  // What",
  },
];

export const withSubscription = withEdits('with-subscription', KIND_EDITS);

/** As `npm run migration` would write it. */
export const SUBSCRIPTION_MIGRATION = {
  name: '9999_subscriptions.sql',
  queries: ['ALTER TABLE `rollup_daily` ADD `subscriptions` integer DEFAULT 0 NOT NULL'],
};
