import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDecimal, toDecimal } from '#lib/decimal';
import { fromNanos, toNanos } from '#lib/money';
import { convert, partsToNanos, type Rate, RateBook, type RateSource } from '#money';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const rate = (
  currency: string,
  base: string,
  day: string,
  worth: string,
  source: RateSource = 'team',
): Rate => ({
  currency,
  base,
  day,
  units: '1',
  worth,
  source,
});

/** The nanos of the converted `amount` as text; null if there is no rate. */
function converted(book: RateBook, amount: number, from: string, to: string, day: string) {
  const parts = convert(book, toNanos(amount), from, to, day);
  return parts === null ? null : fromNanos(partsToNanos(parts));
}

describe('the rate of a day', () => {
  const book = new RateBook([
    rate('eur', 'usd', '2026-03-01', '1.10'),
    rate('eur', 'usd', '2026-03-05', '1.20'),
    rate('gbp', 'usd', '2026-03-01', '1.30'),
    rate('sek', 'usd', '2026-03-02', '0.10'),
    rate('sek', 'usd', '2026-03-02', '0.11', 'reference'),
    rate('nok', 'usd', '2026-03-02', '0.21', 'reference'),
    rate('nok', 'usd', '2026-03-02', '0.20'),
    { currency: 'jpy', base: 'eur', day: '2026-03-04', units: '160', worth: '1', source: 'reference' },
    { currency: 'usd', base: 'eur', day: '2026-03-04', units: '1.15', worth: '1', source: 'reference' },
  ]);
  it.each([
    { what: 'no rate needed', from: 'chf', to: 'chf', day: '2020-01-01', expected: 100 },
    { what: "the day's own", from: 'eur', to: 'usd', day: '2026-03-05', expected: 120 },
    {
      what: 'a fresher reference before an older upload',
      from: 'eur',
      to: 'usd',
      day: '2026-03-04',
      expected: 115,
    },
    { what: 'the latest earlier', from: 'eur', to: 'usd', day: '2026-03-03', expected: 110 },
    { what: 'the other way round', from: 'usd', to: 'eur', day: '2026-03-05', expected: 83.333333333 },
    { what: 'across the base', from: 'gbp', to: 'eur', day: '2026-03-03', expected: 118.181818182 },
    { what: 'across the reference', from: 'jpy', to: 'usd', day: '2026-03-09', expected: 0.71875 },
    { what: 'never a later one', from: 'eur', to: 'usd', day: '2026-02-28', expected: null },
    { what: 'no chain of two bases', from: 'jpy', to: 'gbp', day: '2026-03-09', expected: null },
    {
      what: "the team's own of that day, read first",
      from: 'sek',
      to: 'usd',
      day: '2026-03-02',
      expected: 10,
    },
    {
      what: "the team's own of that day, read last",
      from: 'nok',
      to: 'usd',
      day: '2026-03-02',
      expected: 20,
    },
    { what: 'an unknown currency', from: 'dkk', to: 'usd', day: '2026-03-09', expected: null },
  ])('is $what', ({ from, to, day, expected }) => {
    expect(converted(book, 100, from, to, day)).toBe(expected);
  });
});

it('uses the first of several bases by name, if no pair of rates is fresher or wholly the team’s', () => {
  const rates = (inUsd: RateSource) => [
    rate('gbp', 'aed', '2026-03-02', '6', 'reference'),
    rate('chf', 'aed', '2026-03-02', '5', 'reference'),
    rate('gbp', 'usd', '2026-03-02', '1.3'),
    rate('chf', 'usd', '2026-03-02', '1', inUsd),
  ];
  const worthOf = (own: Rate[]) => converted(new RateBook(own), 100, 'gbp', 'chf', '2026-03-09');
  // A pair is as good as its worse rate.
  expect(worthOf(rates('reference'))).toBe(120);
  expect(worthOf(rates('team'))).toBe(130);
  // An old rate of one base does not stand in for two newer ones of another.
  const fresher = [
    rate('gbp', 'usd', '2026-03-03', '1.4'),
    rate('chf', 'usd', '2026-03-03', '1', 'reference'),
  ];
  expect(worthOf([...rates('reference'), ...fresher])).toBe(140);
  // A pair is as old as its older rate, whichever of the two it is.
  for (const code of ['gbp', 'chf']) {
    const newest = rate(code, 'aed', '2026-03-08', '5.5', 'reference');
    expect(worthOf([...rates('reference'), ...fresher, newest])).toBe(140);
  }
});

describe('amounts', () => {
  const amount = fc.integer({ min: 1, max: 10_000_000_000 });

  it('add up exactly, whatever their order', () => {
    const book = new RateBook([]);
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 200 }), (values) => {
        const parts = values.map((nanos) => convert(book, BigInt(nanos), 'usd', 'usd', '2026-01-01') ?? 0n);
        const forward = parts.reduce((sum, part) => sum + part, 0n);
        const backward = parts.toReversed().reduce((sum, part) => sum + part, 0n);
        expect(partsToNanos(forward)).toBe(values.reduce((sum, nanos) => sum + BigInt(nanos), 0n));
        expect(forward).toBe(backward);
      }),
    );
  });

  it('are converted to the nearest nano of the exact quotient, in parts or whole', () => {
    const decimal = fc.tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 0, max: 999_999 }));
    fc.assert(
      fc.property(fc.array(amount, { minLength: 1, maxLength: 50 }), decimal, (values, [whole, part]) => {
        const book = new RateBook([
          rate('vnd', 'usd', '2026-01-01', `${whole}.${String(part).padStart(6, '0')}`),
        ]);
        const scaled = BigInt(whole) * 1_000_000n + BigInt(part);
        const parts = values.map((nanos) => convert(book, BigInt(nanos), 'usd', 'vnd', '2026-01-01') ?? 0n);
        const sum = values.reduce((total, nanos) => total + BigInt(nanos), 0n);
        const [above, below] = [sum * 1_000_000n, scaled];
        const nearest = (2n * above + below) / (2n * below);
        const difference = partsToNanos(parts.reduce((total, each) => total + each, 0n)) - nearest;
        expect(difference === 0n || (2n * above) % below === 0n).toBe(true);
      }),
    );
  });

  it('of ad networks are counted to the billionth, with one rounding of each event', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const creativeToken = await fetchToken(worker, tenant);
    const ad = (value: number) => ({
      type: 'custom.ad',
      created_at: '2026-03-02 10:00:00',
      creativeToken,
      payload: { ad_id: 'main', source: 'banner', currency: 'usd', value },
    });
    const events = Array.from({ length: 500 }, () => ad(0.0000123456));
    const answer = await worker.post(tenant, '/webhook/batch', { events });
    expect(await answer.json()).toMatchObject({ accepted: 500 });
    await worker.deliver(worker.queue.take());
    const query = `application_id=${tenant.application.id}&from=2026-03-02&to=2026-03-02`;
    for (const [grouping, unknown] of [
      ['', {}],
      ['&group_by=country', { country: null }],
      ['&group_by=media_source', {}],
    ] as const) {
      const report = await worker.team(tenant, `/v1/reports/performance?${query}${grouping}`);
      const figures = { impressions: 500, ad_revenue: 0.006173, ecpm: 0.012346 };
      expect(await report.json()).toMatchObject({ data: [{ ...unknown, ...figures }], totals: figures });
    }
    const largest = await worker.post(tenant, '/webhook/batch', {
      events: [ad(999_999_999), ad(1_000_000_000)],
    });
    expect(await largest.json()).toMatchObject({ accepted: 2 });
    await worker.deliver(worker.queue.take());
    const report = await worker.team(tenant, `/v1/reports/performance?${query}`);
    // Revenue must not be lost because of a malformed amount, so the event is kept without one.
    expect(await report.json()).toMatchObject({
      totals: { impressions: 502, ad_revenue_exact: '999999999.006173000' },
    });
  });

  it('keep every digit of a rate that is sent as a number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e14, noNaN: true }), (number) => {
        const text = toDecimal(number);
        expect(Number(text)).toBe(number);
        expect(parseDecimal(text)).not.toBeNull();
      }),
    );
  });

  it('of a thousand events from 0.000000001 to 10,000 are summed exactly by a report', async () => {
    const worker = startWorker();
    const tenant = await createTenant();
    const creativeToken = await fetchToken(worker, tenant);
    const nanos = Array.from(
      { length: 1_000 },
      (_, index) => 1 + ((index * 7_919_777_123) % 10_000_000_000_000),
    );
    const events = nanos.map((amount) => ({
      type: 'custom.ad',
      created_at: '2026-03-02 10:00:00',
      creativeToken,
      payload: { ad_id: 'main', source: 'banner', currency: 'usd', value: amount / 1e9 },
    }));
    for (const half of [events.slice(0, 500), events.slice(500)]) {
      const answer = await worker.post(tenant, '/webhook/batch', { events: half });
      expect(await answer.json()).toMatchObject({ accepted: 500 });
    }
    await worker.deliver(worker.queue.take());
    const query = `application_id=${tenant.application.id}&from=2026-03-02&to=2026-03-02`;
    const report = await worker.team(tenant, `/v1/reports/performance?${query}`);
    const { totals }: { totals: { impressions: number; ad_revenue: number } } = await report.json();
    const total = nanos.reduce((sum, amount) => sum + BigInt(amount), 0n);
    expect(totals).toMatchObject({ impressions: 1_000, ad_revenue: Number(total) / 1e9 });
  });
});
