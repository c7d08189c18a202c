import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { keepPostbacks } from '#skan';
import { pruneNotifications } from '#stores';
import { WatchedD1 } from '../helpers/d1.ts';

it.each([
  [
    'skan_postbacks',
    keepPostbacks,
    [
      'skan_postbacks_passing (received_at<?)',
      'skan_postbacks_by_application (application_id=? AND test=? AND received_at<?)',
    ],
  ],
  [
    'store_notifications',
    pruneNotifications,
    ['store_notifications_by_time (application_id=? AND received_at<?)'],
  ],
])('finds the old rows of %s by an index', async (table, prune, parts) => {
  const watched = new WatchedD1(env.DB);
  await prune(watched.asBinding(), Date.now());
  const plans: string[] = [];
  for (const statement of watched.log) {
    const bound = env.DB.prepare(`EXPLAIN QUERY PLAN ${statement}`);
    const count = statement.split('?').length - 1;
    const { results } = await bound.bind(...Array(count).fill(1)).all<{ detail: string }>();
    plans.push(...results.map(({ detail }) => detail).filter((detail) => detail.includes(table)));
  }
  const plan = plans.join('\n');
  expect(plan).not.toMatch(new RegExp(`SCAN ${table}(?! USING (?:COVERING )?INDEX skan_postbacks_passing)`));
  for (const part of parts) expect(plan).toContain(part);
});
