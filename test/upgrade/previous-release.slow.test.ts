import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RestoreProgress } from '#backup';
import { beginRestoreSql } from '#backup/begin';
import { withLocalDatabase } from '../../src/cli/local-database.ts';
import { applyMigrations, readMigrations } from '../../src/cli/local-migrations.ts';
import { type ApiDocument, questionsIn, settledPart } from './questions.ts';
import { bundleToday, call, runRelease, unpackRelease } from './release.ts';
import { migrationsOf } from './released.ts';
import {
  acquire,
  clientOf,
  dayAgo,
  SENT_ON,
  type SentHistory,
  sendEvents,
  sendRichHistory,
} from './rich-history.ts';

// The release before this one and today's code, each over what the other has stored: what an upgrade does, and going back.

const PREVIOUS = '0.2.0';

let folder: string;
let receiver: string;
const accepting = createServer((request, response) => request.resume().once('end', () => response.end()));
const modules: Record<'today' | 'previous', string[]> = { today: [], previous: [] };
type Release = keyof typeof modules;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'attribution-releases-'));
  await new Promise<void>((resolve) => accepting.listen(0, '127.0.0.1', resolve));
  receiver = `http://127.0.0.1:${(accepting.address() as AddressInfo).port}/`;
  modules.today = await bundleToday(path.join(folder, 'today'));
  modules.previous = await unpackRelease(PREVIOUS, path.join(folder, 'previous'));
});
afterAll(async () => {
  accepting.closeAllConnections();
  accepting.close();
  await rm(folder, { recursive: true, force: true });
});

const run = <Result>(release: Release, stores: string, work: Parameters<typeof runRelease<Result>>[2]) =>
  runRelease(modules[release], stores, work);

/** The tables as a release makes them. */
async function migrate(release: Release, stores: string): Promise<void> {
  const names = release === 'previous' ? await migrationsOf(PREVIOUS) : null;
  const migrations = (await readMigrations()).filter(({ name }) => names?.includes(name) ?? true);
  await withLocalDatabase(stores, (db) => applyMigrations(db, migrations));
}

type Answers = Record<string, unknown>;

/** What the team can read, by path. */
/** What is computed from costs. Where these do not state a dimension, 0.2.0 took them for none, and today they are unknown. */
const OF_COSTS = /^(?:profit|roas|spend|cpi|cpc|cpm|ctr|ipm|ad_impressions_bought)/;
/** 0.2.0 set the revenue of all devices against spend. */
const OF_LTV = /^(?:roas|payback)/;

/** Rows that only costs without the dimension made, in 0.2.0 that of nothing, and today that of what belongs to no group. */
const isOfCostsAlone = (row: Record<string, unknown> | null): boolean =>
  row?.is_unallocated === true ||
  (row?.events === 0 &&
    [row.clicks, row.installs, row.revenue, row.ad_requests].every((value) => value === 0));

/** The part of an answer that means the same in both releases: see above. */
function sharedPart(question: string, answer: unknown): unknown {
  const isByTime = /group_by=(?:hour|day|week|month)(?:&|$)/.test(question);
  const isOfLtv = question.startsWith('/v1/reports/ltv');
  return JSON.parse(JSON.stringify(answer), (name, value) => {
    if ((isOfLtv && OF_LTV.test(name)) || (!isByTime && OF_COSTS.test(name))) return undefined;
    if (!isByTime && name === 'total_rows') return undefined;
    return Array.isArray(value) ? value.filter((row) => !isOfCostsAlone(row)) : value;
  });
}

async function readAll(address: URL, history: SentHistory, document: ApiDocument): Promise<Answers> {
  const { team, control } = clientOf(address, history);
  await control('settle', history.counter);
  const facts = {
    ...{ application_id: history.applicationId, from: dayAgo(4), to: dayAgo(0), limit: '200' },
    ...history.ids,
  };
  const answers: Answers = {};
  for (const question of questionsIn(document, facts))
    answers[question] = sharedPart(question, settledPart(await team<unknown>('GET', question)));
  return answers;
}

const documentOf = (release: Release, stores: string) =>
  run(release, stores, (address) => call<ApiDocument>(new URL('/openapi.json', address)));

const totalsOf = async (address: URL, history: SentHistory) => {
  const { team, control } = clientOf(address, history);
  await control('settle', history.counter);
  const query = `application_id=${history.applicationId}&from=${dayAgo(4)}&to=${dayAgo(0)}`;
  return (await team<{ totals: Record<string, number> }>('GET', `/v1/reports/performance?${query}`)).totals;
};

/** Waits until the destination has sent everything, each event once. */
async function expectSent(address: URL, { destination, ...history }: SentHistory, events: number) {
  const { team } = clientOf(address, history);
  await expect
    .poll(() => team('GET', `/v1/destinations/${destination}`), { timeout: 60_000, interval: 100 })
    .toMatchObject({ pending: 0, recent_attempts: events, recent_failures: 0, enabled: true });
}

const COUNTED = ['installs', 'sessions', 'impressions', 'purchases', 'refunds', 'events', 'revenue'] as const;

/** What three events of each kind, of an old device and of a new one, add. */
async function sendMore(address: URL, history: SentHistory, index: number): Promise<void> {
  const client = clientOf(address, history);
  const fresh = await acquire(client, index);
  for (const token of [history.devices[0] ?? '', history.devices[1] ?? '', fresh])
    await sendEvents(client, token, index);
}

it.each([
  { writer: 'today', reader: 'previous' },
  { writer: 'previous', reader: 'today' },
] as const)(
  '$reader code reads and continues what $writer code stored, and back',
  async ({ writer, reader }) => {
    const stores = path.join(folder, `written-by-${writer}`);
    await migrate(writer, stores);
    const history = await run(writer, stores, (address) => sendRichHistory(address, receiver));
    const document = await documentOf('previous', stores);
    // Each opens what was exported, what waits for D1 and what is not yet counted.
    const copy = `${stores}-copy`;
    await cp(stores, copy, { recursive: true });
    const expected = await run(writer, copy, (address) => readAll(address, history, document));
    await migrate('today', stores);
    const isOlder = reader === 'previous';
    const { before, after, answers } = await run(reader, stores, async (address) => {
      const read = await readAll(address, history, document);
      for (const [question, answer] of Object.entries(read)) {
        const [older, newer] = isOlder ? [answer, expected[question]] : [expected[question], answer];
        expect(newer, question).toMatchObject(older as object);
      }
      const sent = history.devices.length * (1 + 3 * SENT_ON);
      await expectSent(address, history, sent);
      const before = await totalsOf(address, history);
      await sendMore(address, history, 10);
      const after = await totalsOf(address, history);
      await expectSent(address, history, sent + 1 + 3 * SENT_ON);
      return { before, after, answers: await readAll(address, history, document) };
    });
    const added = { installs: 1, sessions: 3, impressions: 3, purchases: 6, refunds: 3, events: 3 };
    for (const [name, count] of Object.entries(added))
      expect(after[name], name).toBe((before[name] ?? 0) + count);

    await run(writer, stores, async (address) => {
      const back = await readAll(address, history, document);
      for (const [question, answer] of Object.entries(back)) {
        const [older, newer] = isOlder ? [answers[question], answer] : [answer, answers[question]];
        expect(newer, question).toMatchObject(older as object);
      }
      await sendMore(address, history, 11);
      const again = await totalsOf(address, history);
      for (const name of COUNTED) expect(again[name], name).toBeGreaterThan(after[name] ?? 0);
      const { data } = await clientOf(address, history).team<{ data: unknown[] }>('GET', '/v1/parked');
      expect(data).toEqual([]);
    });
  },
);

it('is restored by today code from the bucket that the previous one filled', async () => {
  const stores = path.join(folder, 'lost');
  await migrate('previous', stores);
  const history = await run('previous', stores, (address) => sendRichHistory(address, receiver));
  const document = await documentOf('previous', stores);
  const expected = await run('previous', stores, async (address) => {
    const answers = await readAll(address, history, document);
    await clientOf(address, history).control('export', history.counter);
    return answers;
  });
  for (const kind of ['d1', 'do']) await rm(path.join(stores, 'v3', kind), { recursive: true });
  await migrate('today', stores);
  await run('today', stores, async (address, miniflare) => {
    const { statements, secret } = await beginRestoreSql(Date.now());
    const db = await miniflare.getD1Database('DB');
    await db.batch(statements.split(';\n').map((statement) => db.prepare(statement)));
    let progress: RestoreProgress;
    do {
      progress = await call(new URL('/restore', address), {
        method: 'POST',
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
        body: '{}',
      });
    } while (!progress.finished);
    expect(progress.restored.rows).toBe(progress.rows_in_snapshot);
    const answers = await readAll(address, history, document);
    for (const [question, answer] of Object.entries(expected))
      expect(answers[question], question).toMatchObject(answer as object);
  });
});
