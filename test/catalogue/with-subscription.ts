import path from 'node:path';
import { withEdits } from '../newcomer/with-edits.ts';

// Builds the Worker with one more kind of event, by exactly the changes that adding `subscription.ts` requires.

const KIND = path.join(import.meta.dirname, 'subscription.ts');

export const withSubscription = withEdits('with-subscription', [
  {
    file: '/src/catalogue/events/index.ts',
    before: 'import ',
    after: `import { subscription } from '${KIND}';\nimport `,
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
]);

/** As `npm run migration` would write it. */
export const SUBSCRIPTION_MIGRATION = {
  name: '9999_subscriptions.sql',
  queries: ['ALTER TABLE `rollup_daily` ADD `subscriptions` integer DEFAULT 0 NOT NULL'],
};
