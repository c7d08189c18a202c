import { env } from 'cloudflare:workers';
import { writeXlsx } from 'hucre/xlsx';
import { describe, expect, it } from 'vitest';
import {
  type CostService,
  faultsInMessage,
  partsByDay,
  readLargeFile,
  type SentRows,
  uploadByDay,
} from '#money/large-files';
import { MAX_FILE_ROWS } from '../../src/money/cost-files/read-file.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { slowIt } from '../helpers/thorough.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const OPTIONS = { currency: 'usd', spread: false, map: null };

const dayOf = (index: number) => new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10);

type Sent = { days: string[]; dryRun: boolean };

/** The requests of an upload, through the public API. `breaksAt`: which of them gets no answer. */
function serviceOf(tenant: Tenant, breaksAt = Number.POSITIVE_INFINITY): CostService & { sent: Sent[] } {
  const application_id = tenant.application.id;
  const put = (path: string, body: object) =>
    worker.team(tenant, path, { method: 'PUT', body: { application_id, ...body } });
  const sent: Sent[] = [];
  const columns = async (body: object) =>
    (await (await put('/v1/costs/columns', body)).json<{ columns: Record<string, string> | null }>()).columns;
  return {
    sent,
    send: async (rows, dryRun) => {
      if (sent.length === breaksAt) throw new Error('no answer came');
      sent.push({ days: [...new Set(rows.map(({ date }) => String(date)))], dryRun });
      const answer = await put('/v1/costs', { rows, dry_run: dryRun });
      if (answer.ok) return answer.json<SentRows>();
      return { faults: faultsInMessage((await answer.json<{ message: string }>()).message) };
    },
    recall: (headings) => columns({ headings }),
    remember: async (headings, map) => {
      await columns({ headings, columns: map });
    },
  };
}

async function spendOf(tenant: Tenant) {
  const { results } = await env.DB.prepare(
    'SELECT day, sum(amount) AS nanos, count(*) AS rows FROM costs WHERE application_id = ? GROUP BY day ORDER BY day',
  )
    .bind(tenant.application.id)
    .all<{ day: string; nanos: number; rows: number }>();
  return results.map(({ day, nanos, rows }) => `${day} ${nanos / 1e9} ${rows}`);
}

const DAYS = 4;
const ADS = Math.ceil((MAX_FILE_ROWS + 1) / DAYS);

/** A file with more rows than one request has: its days are mixed, as in exports that are sorted by campaign. */
function largeFile(
  heading: string,
  { amount = '0.01', day = dayOf }: { amount?: string; day?: (index: number) => string } = {},
) {
  const lines = [heading];
  for (let ad = 0; ad < ADS; ad++)
    for (let index = 0; index < DAYS; index++) lines.push(`${day(index)},Spring,Ad ${ad},${amount}`);
  return new TextEncoder().encode(lines.join('\n'));
}

/** A file of some days as if it were large. */
const small = (rows: Record<string, unknown>[]) => ({
  parsed: {
    ...{
      format: null,
      network: null,
      read: rows.length,
      skipped: [],
      ignored: [],
      faults: [],
      unknownHeadings: null,
    },
    ...{ rows, lines: rows.map((_, index) => index + 2) },
  },
  headings: null,
});

const rowsOn = (days: number, perDay: number, more: object = {}) =>
  Array.from({ length: days * perDay }, (_, index) => ({
    ...{ date: dayOf(index % days), campaign: `Campaign ${index}`, currency: 'usd', amount: 2 },
    ...more,
  }));

const upload = (tenant: Tenant, rows: Record<string, unknown>[], breaksAt?: number) =>
  uploadByDay(small(rows), null, serviceOf(tenant, breaksAt), () => {});

describe('parts of a large file', () => {
  it('have whole days, in order, and few rows or one day', () => {
    const rows = [...rowsOn(5, 2_400), ...rowsOn(1, 6_000)];
    const parts = partsByDay({ rows, lines: rows.map((_, index) => index) });
    expect(parts.map(({ days, rows: own }) => [days, own.length])).toEqual([
      [[dayOf(0)], 8_400],
      [[dayOf(1), dayOf(2)], 4_800],
      [[dayOf(3), dayOf(4)], 4_800],
    ]);
    expect(
      parts.flatMap(({ rows: own, lines }) => lines.map((line, at) => own[at] === rows[line])),
    ).not.toContain(false);
  });

  it('have few characters', () => {
    const rows = rowsOn(8, 500, { creative: 'x'.repeat(255) });
    expect(partsByDay({ rows, lines: [] }).map(({ days }) => days.length)).toEqual([5, 3]);
  });
});

it('reads a file only if one request cannot have it', async () => {
  const { recall } = serviceOf(await createTenant());
  const text = `date,campaign,amount\n${rowsOn(1, 9_000)
    .map(({ date, campaign }) => `${date},${campaign},1`)
    .join('\n')}`;
  expect(await readLargeFile(new TextEncoder().encode(text), OPTIONS, recall)).toBeNull();
  expect(await readLargeFile(new TextEncoder().encode(`${text}\nx,y,z`), OPTIONS, recall)).toBeNull();
  const wide = new TextEncoder().encode(`${text}\n${'\n'.repeat(8 * 1024 * 1024)}`);
  expect((await readLargeFile(wide, OPTIONS, recall))?.parsed).toMatchObject({ read: 9_000, faults: [] });
});

describe('an upload by day', () => {
  it('checks all rows before it stores the first, says how far it is, and stores nothing twice', async () => {
    const tenant = await createTenant();
    const service = serviceOf(tenant);
    const shares: [number, string][] = [];
    const rows = rowsOn(3, 2_000);
    const send = () => uploadByDay(small(rows), null, service, (share, phase) => shares.push([share, phase]));
    const outcome = await send();
    expect(outcome).toEqual({
      outcome: 'stored',
      totals: { rows: 6_000, replaced: 0, unmatched: 6_000, amounts: [{ currency: 'usd', amount: '12000' }] },
    });
    expect(service.sent).toEqual([
      { days: [dayOf(0), dayOf(1)], dryRun: true },
      { days: [dayOf(2)], dryRun: true },
      { days: [dayOf(0), dayOf(1)], dryRun: false },
      { days: [dayOf(2)], dryRun: false },
    ]);
    expect(shares).toEqual([
      ...[
        [0, 'check'],
        [1 / 3, 'check'],
        [1 / 2, 'store'],
        [5 / 6, 'store'],
        [1, 'store'],
      ],
    ]);
    const stored = [0, 1, 2].map((index) => `${dayOf(index)} 4000 2000`);
    expect(await spendOf(tenant)).toEqual(stored);
    expect(await send()).toEqual(outcome);
    expect(await spendOf(tenant)).toEqual(stored);
  });

  it.each([
    ['a date in the future', { date: '2999-01-01' }, /^Line 6001: date must not be later than tomorrow/],
    ['no currency', { currency: 'xyz' }, /^Line 6001: currency must be a currency code/],
    ['an amount that is too large', { amount: 1e12 }, /^Line 6001: amount /],
    ['a second currency under one key', { campaign: 'Campaign 5', currency: 'eur' }, /in two currencies/],
  ])('stores nothing of a file whose last row has %s', async (_, wrong, message) => {
    const tenant = await createTenant();
    const rows = rowsOn(3, 2_000);
    rows[5_999] = { date: dayOf(2), campaign: 'Campaign 5999', currency: 'usd', amount: 2, ...wrong };
    const outcome = await upload(tenant, rows);
    expect(outcome.outcome).toBe('refused');
    const faults = outcome.outcome === 'refused' ? outcome.faults : [];
    expect(faults.map(({ path, message: what }) => `${path} ${what}`)).toEqual([
      expect.stringMatching(message),
    ]);
    expect(await spendOf(tenant)).toEqual([]);
  });

  it('leaves each day as it was or whole when it breaks off, says which, and is completed by a repeat', async () => {
    const tenant = await createTenant();
    await upload(tenant, rowsOn(3, 2_000, { amount: 1 }));
    expect(await upload(tenant, rowsOn(3, 2_000), 3)).toEqual({
      outcome: 'broken',
      reason: 'no answer came',
      stored: { from: dayOf(0), to: dayOf(1), rows: 4_000 },
      missing: { from: dayOf(2), to: dayOf(2), rows: 2_000 },
    });
    expect(await spendOf(tenant)).toEqual([
      ...[`${dayOf(0)} 4000 2000`, `${dayOf(1)} 4000 2000`, `${dayOf(2)} 2000 2000`],
    ]);
    expect((await upload(tenant, rowsOn(3, 2_000))).outcome).toBe('stored');
    expect(await spendOf(tenant)).toEqual([0, 1, 2].map((index) => `${dayOf(index)} 4000 2000`));
  });

  it.each([0, 1])('stores nothing if request %i of the check gets no answer', async (breaksAt) => {
    const tenant = await createTenant();
    expect(await upload(tenant, rowsOn(3, 2_000), breaksAt)).toEqual({
      ...{ outcome: 'refused', faults: [{ path: '', message: 'no answer came' }] },
    });
    expect(await spendOf(tenant)).toEqual([]);
  });

  slowIt('refuses a day of more rows than one request has', async () => {
    const tenant = await createTenant();
    const outcome = await upload(tenant, rowsOn(1, MAX_FILE_ROWS + 1));
    expect(outcome).toEqual({
      outcome: 'refused',
      faults: [
        { path: `${dayOf(0)} to ${dayOf(0)}:`, message: `must be a list of 1 to ${MAX_FILE_ROWS} rows` },
      ],
    });
    expect(await spendOf(tenant)).toEqual([]);
  });
});

slowIt('reads headings that nobody knows by what was chosen, and remembers what is chosen', async () => {
  const tenant = await createTenant();
  const service = serviceOf(tenant);
  const file = largeFile('Päivä,Kampanja,Mainos,Summa', { amount: '0' });
  const unknown = await readLargeFile(file, OPTIONS, service.recall);
  // Nobody can say how many rows a file has that cannot be read: the service names its headings.
  expect(unknown).toBeNull();
  const map = { date: 'Päivä', campaign: 'Kampanja', creative: 'Mainos', amount: 'Summa' };
  const chosen = await readLargeFile(file, { ...OPTIONS, map }, service.recall);
  expect(chosen).toMatchObject({
    headings: ['Päivä', 'Kampanja', 'Mainos', 'Summa'],
    parsed: { faults: [] },
  });
  const one = { ...small(rowsOn(1, 1)), headings: chosen?.headings ?? null };
  await uploadByDay(one, map, service, () => {});
  expect((await readLargeFile(file, OPTIONS, service.recall))?.parsed).toMatchObject({
    read: DAYS * ADS,
    faults: [],
  });
});

slowIt('reads a workbook with more rows than one request takes', async () => {
  const rows = new TextDecoder()
    .decode(largeFile('date,campaign,creative,amount'))
    .split('\n')
    .map((line, index) => line.split(',').map((cell, at) => (index > 0 && at === 3 ? Number(cell) : cell)));
  const file = await writeXlsx({ sheets: [{ name: 'Costs', rows }] });
  const service = serviceOf(await createTenant());
  expect((await readLargeFile(file, OPTIONS, service.recall))?.parsed).toMatchObject({
    ...{ read: DAYS * ADS, faults: [] },
    rows: { length: DAYS * ADS },
  });
});

describe('PUT /v1/costs/columns', () => {
  const put = async (tenant: Tenant, body: object) => {
    const answer = await worker.team(tenant, '/v1/costs/columns', {
      method: 'PUT',
      body: { application_id: tenant.application.id, ...body },
    });
    return { status: answer.status, ...(await answer.json<{ columns?: unknown; message?: string }>()) };
  };
  const headings = ['Päivä', 'Kampanja', 'Summa'];
  const columns = { date: 'Päivä', campaign: 'Kampanja', amount: 'Summa' };

  it('remembers for one application', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    expect(await put(tenant, { headings })).toEqual({ status: 200, columns: null });
    expect(await put(tenant, { headings, columns })).toEqual({ status: 200, columns });
    expect(await put(tenant, { headings })).toEqual({ status: 200, columns });
    expect(await put(other, { headings })).toEqual({ status: 200, columns: null });
  });

  it.each([
    [{ headings: [] }, 'headings', 'must be a list of 1 to 200 headings'],
    [{ headings, columns: { ...columns, date: 'Tag' } }, 'columns.date', 'must be one of headings'],
    [
      { headings, columns: { date: 'Päivä' } },
      'columns',
      'must name the columns of campaign, amount and date, or of start and end in place of date',
    ],
  ])('refuses %j', async (body, path, message) => {
    expect(await put(await createTenant(), body)).toMatchObject({
      status: 400,
      message: `${path} ${message}`,
    });
  });
});
