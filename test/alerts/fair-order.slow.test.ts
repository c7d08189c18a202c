import { env } from 'cloudflare:workers';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  composeDigests,
  createAlert,
  createChannel,
  listAlerts,
  listChannels,
  NewChannel,
  sendNotices,
  sendTestMessage,
  watchAlerts,
} from '#alerts';
import { alerts, channels, database, notices } from '#db';
import type { ApplicationRow } from '#teams';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createTenant } from '../helpers/tenant.ts';

// One team's backlog of alerts, digests and messages, and another team's single one behind it.

const db = database(env.DB);
const NOW = Date.UTC(2026, 2, 28, 9, 30);
const MINUTE = 60_000;

let posted: string[];

beforeEach(async () => {
  await db.batch([db.delete(alerts), db.delete(channels), db.delete(notices)]);
  posted = [];
  answerFetch(async (input) => {
    posted.push(String(input));
    return new Response('ok');
  });
});

afterEach(() => vi.restoreAllMocks());

const callerOf = ({ teamId }: ApplicationRow, now: number) => ({
  db,
  team: { id: teamId },
  actor: 'someone@team.test',
  now,
});

const applicationOf = async () => (await createTenant()).application;

async function addChannel(
  application: ApplicationRow,
  target: string,
  digest: 'never' | 'daily' = 'never',
  now = NOW,
) {
  const channel = NewChannel.parse({ kind: 'webhook', target, digest });
  await createChannel(
    callerOf(application, now),
    application,
    channel,
    'https://dash.test',
    env.KEY_ENCRYPTION_SECRET,
  );
}

const addAlert = (application: ApplicationRow, now: number) =>
  createAlert(callerOf(application, now), application, { kind: 'no_events', threshold: 1 });

async function sendTests(application: ApplicationRow, times: number, now: number) {
  const [channel] = await listChannels(db, application.id);
  for (let index = 0; index < times; index++) {
    await sendTestMessage(db, application, channel?.id ?? '', now + index);
  }
}

it('checks another team’s alert in the same run as the first 20 of a team with more', async () => {
  const [busy, other] = [await applicationOf(), await applicationOf()];
  for (let index = 0; index < 30; index++) await addAlert(busy, NOW - 10 * MINUTE);
  await addAlert(other, NOW);
  await watchAlerts(env, NOW);
  expect((await listAlerts(db, other.id))[0]?.finding).not.toBeNull();
  expect((await listAlerts(db, busy.id)).filter(({ finding }) => finding !== null)).toHaveLength(19);
});

it('sends another team’s message in the same run as the first of a team with 20 test messages', async () => {
  const [busy, other] = [await applicationOf(), await applicationOf()];
  await addChannel(busy, 'https://busy.test.example/hook');
  await addChannel(other, 'https://other.test.example/hook');
  await sendTests(busy, 20, NOW - 10 * MINUTE);
  await sendTests(other, 1, NOW);
  await sendNotices(env, NOW);
  expect(posted.filter((url) => url.includes('other'))).toHaveLength(1);
  expect(posted).toHaveLength(20);
});

it('composes another team’s digest in the same run as the first 10 of a team with more', async () => {
  const [busy, other] = [await applicationOf(), await applicationOf()];
  const yesterday = NOW - 24 * 60 * MINUTE;
  for (let index = 0; index < 15; index++) {
    await addChannel(busy, `https://busy.test.example/${index}`, 'daily', yesterday - MINUTE);
  }
  await addChannel(other, 'https://other.test.example/hook', 'daily', yesterday);
  await composeDigests(env, NOW);
  const [channel] = await listChannels(db, other.id);
  expect(channel?.nextDigestAt).toBe(Date.UTC(2026, 2, 29, 8));
  expect(await db.$count(notices)).toBe(10);
});

it('refuses a team’s 21st waiting test message, and no other team’s', async () => {
  const [busy, other] = [await applicationOf(), await applicationOf()];
  await addChannel(busy, 'https://busy.test.example/hook');
  await addChannel(other, 'https://other.test.example/hook');
  await sendTests(busy, 20, NOW);
  await expect(sendTests(busy, 1, NOW + MINUTE)).rejects.toThrow(
    'A team has at most 20 test messages waiting; try again when some have been sent',
  );
  await sendTests(other, 1, NOW);
  await sendNotices(env, NOW + MINUTE);
  await sendTests(busy, 1, NOW + 2 * MINUTE);
});
