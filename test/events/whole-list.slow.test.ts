import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { type FileEntry, writeFiles } from '#lake';
import { addFiles } from '../../src/counting/files/file-index.ts';
import { openStore } from '../../src/counting/store.ts';
import { eventOf, startCounter } from '../helpers/counter.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Raw event files overlap in time: each has the events of one day that one counter received between two exports, so events of many days that
// arrive together lie in as many files, and merged files span months. Lists of them end, and have every event once.

const worker = startWorker();
const STARTS_AT = Date.UTC(2026, 2, 1);
const DAY_MS = 86_400_000;

type Sent = { file: number; at: number; type: 'custom' | 'custom.ad' | 'custom.purchase'; device: number };
/** Each file has events of one day. Several may have those of the same day. */
const dayOf = (file: number) => new Date(STARTS_AT + (file % 60) * DAY_MS).toISOString().slice(0, 10);

const idOf = ({ at }: Sent, index: number) =>
  `evt_${(STARTS_AT + at).toString(16).padStart(12, '0')}7${index.toString(16).padStart(19, '0')}`;

/** An application whose files have these events; those that are exported together are in one log before. */
async function store(sent: readonly Sent[], shards: number) {
  const tenant = await createTenant();
  const applicationId = tenant.application.id;
  await env.DB.prepare('UPDATE applications SET shards = ? WHERE id = ?').bind(shards, applicationId).run();
  const devices = [0, 1, 2].map((digit) => ({
    id: `dev_${String(digit + 1).repeat(32)}`,
    acquiredDay: '2026-03-01',
    creativeId: null,
  }));
  const events = sent.map((own, index) => {
    const device = devices[own.device];
    if (!device) throw new Error('there are three devices');
    const shard = own.file % shards;
    return eventOf(applicationId, device, own.type, {
      id: idOf(own, index),
      day: dayOf(own.file),
      received_at: STARTS_AT + own.at,
      ...(shard === 0 ? {} : { shard }),
    });
  });
  for (let shard = 0; shard < shards; shard++) {
    const counter = startCounter(applicationId, shard);
    const own = events.map((event, index) => ({ event, file: sent[index]?.file ?? 0 }));
    const files = Map.groupBy(
      own.filter(({ file }) => file % shards === shard),
      ({ file }) => file,
    );
    const entries: FileEntry[] = [];
    for (const [, rows] of files) {
      const slice = rows.map(({ event }) => event).sort((left, right) => (left.id < right.id ? -1 : 1));
      entries.push(...(await writeFiles(env.RAW_EVENTS, { applicationId, shard }, [slice])));
    }
    await counter.inside((_, { storage }) =>
      addFiles(openStore(storage), entries, { exportedAt: 1, throughBatch: 0 }),
    );
  }
  return { tenant, events, devices };
}

/** Follows the cursors to the end. Each one is older than the one before. */
async function walk(tenant: Tenant, query: string) {
  const ids: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const path = `/v1/events?application_id=${tenant.application.id}${query}&cursor=${cursor}`;
    const answer = await worker.team(tenant, path);
    expect(answer.status).toBe(200);
    const page: { data: { event_id: string }[]; next_cursor: string | null } = await answer.json();
    if (page.next_cursor !== null && cursor !== '') expect(page.next_cursor < cursor).toBe(true);
    ids.push(...page.data.map(({ event_id }) => event_id));
    cursor = page.next_cursor;
  }
  return { ids, pages };
}

const newestFirst = (events: readonly LoggedEvent[]) =>
  events
    .map(({ id }) => id)
    .sort()
    .reverse();

describe('GET /v1/events', () => {
  it('ends where more files overlap than one reading of the index returns', async () => {
    const FILES = 90;
    const sent = Array.from({ length: 4 * FILES }, (_, index) => ({
      ...{ file: index % FILES, at: index, device: index % 3 },
      type: 'custom.ad' as const,
    }));
    const { tenant, events } = await store(sent, 1);
    const { ids, pages } = await walk(tenant, '&limit=200');
    expect(ids).toEqual(newestFirst(events));
    expect(pages).toBeLessThan(12);
  });

  it('has every event of any files once, whatever overlaps, with any limit and filter', async () => {
    const event = (files: number, span: number) =>
      fc.record<Sent>({
        file: fc.nat(files - 1),
        at: fc.nat(span),
        type: fc.constantFrom('custom', 'custom.ad', 'custom.purchase'),
        device: fc.nat(2),
      });
    const history = fc
      .record({
        files: fc.constantFrom(40, 120),
        span: fc.constantFrom(0, 1_000, 5_000_000_000),
        shards: fc.integer({ min: 1, max: 2 }),
        size: fc.constantFrom(0, 60, 300),
      })
      .chain(({ files, span, shards, size }) =>
        fc.record({
          sent: fc.array(event(files, span), { minLength: size / 2, maxLength: size }),
          shards: fc.constant(shards),
          limit: fc.constantFrom(7, 50, 200),
        }),
      );
    await fc.assert(
      fc.asyncProperty(history, async ({ sent, shards, limit }) => {
        const { tenant, events, devices } = await store(sent, shards);
        const device = devices[1]?.id ?? '';
        const [from, to] = [dayOf(2), dayOf(25)];
        const filters: [string, (event: LoggedEvent) => boolean][] = [
          ['', () => true],
          ['&type=custom.purchase', ({ type }) => type === 'custom.purchase'],
          [`&device_id=${device}`, (event) => 'device_id' in event && event.device_id === device],
          [`&from=${from}&to=${to}`, ({ day }) => day >= from && day <= to],
        ];
        for (const [query, isMeant] of filters) {
          const { ids } = await walk(tenant, `${query}&limit=${limit}`);
          expect(ids).toEqual(newestFirst(events.filter(isMeant)));
        }
      }),
      { numRuns: 10 },
    );
  }, 120_000);
});
