import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { NOTIFICATION_DAYS, POSTBACK_DAYS } from '#db';
import { DAY_MS } from '#lib/time';
import { keepPostbacks } from '#skan';
import { pruneNotifications } from '#stores';
import { WatchedD1 } from '../helpers/d1.ts';
import { createTenant } from '../helpers/tenant.ts';

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

const POSTBACK = `INSERT INTO skan_postbacks (transaction_id, sequence, test, application_id, app_id, framework, network, source_identifier,
  conversion, did_win, received_at, day) VALUES (?1, 0, $test, ?2, '7', 'skadnetwork', 'n', '1', 'download', 1, ?3, '2026-03-01')`;
const NOTIFICATION = `INSERT INTO store_notifications (notification_id, application_id, received_at, store, type, kind, environment, content_hash, held)
  VALUES (?1, ?2, ?3, 'apple', 'T', 'refund', 'production', '', $held)`;

it.each([
  ['a postback', 'skan_postbacks', POSTBACK.replace('$test', '0'), keepPostbacks, POSTBACK_DAYS],
  ['a postback of a test', 'skan_postbacks', POSTBACK.replace('$test', '1'), keepPostbacks, 30],
  [
    'a notification',
    'store_notifications',
    NOTIFICATION.replace('$held', 'NULL'),
    pruneNotifications,
    NOTIFICATION_DAYS,
  ],
  [
    'a held notification',
    'store_notifications',
    NOTIFICATION.replace('$held', "'{}'"),
    pruneNotifications,
    400,
  ],
] as const)('keeps %s for exactly so many days', async (_, table, insert, prune, days) => {
  const { application } = await createTenant();
  const now = Date.UTC(2026, 2, 1);
  const at = now - days * DAY_MS;
  for (const [id, receivedAt] of Object.entries({ younger: at + 1, even: at, older: at - 1 })) {
    await env.DB.prepare(insert).bind(id, application.id, receivedAt).run();
  }
  await prune(env.DB, now);
  const { results } = await env.DB.prepare(
    `SELECT received_at FROM ${table} WHERE application_id = ? ORDER BY 1`,
  )
    .bind(application.id)
    .all();
  expect(results.map(({ received_at }) => Number(received_at) - at)).toEqual([0, 1]);
});
