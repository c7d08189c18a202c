import { expect, it } from 'vitest';
import type { LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { eventOf } from '../helpers/counter.ts';
import { startFeeding } from './feeding.ts';

const DOLLAR = 1_000_000_000;

/** A counter whose destination is sent payments, and events of one device. */
async function startPaying() {
  const own = await startFeeding(newId('app'), { events: ['purchase', 'refund', 'ad'] });
  const [device] = await own.createDevices(1);
  if (!device) throw new Error('no device');
  const { applicationId } = own;
  const START = Date.parse('2026-03-02T12:00:00Z');
  type Times = { second?: number; value?: number; currency?: string };
  /** A purchase of 10 dollars, and what follows it, by its client. `second`: when it happened. */
  const sent = (tr_id: string, status: 'completed' | 'refunded' | 'refund_reversed', more: Times = {}) => {
    const { second = 0, value = status === 'completed' ? 10 : 0, currency = 'usd' } = more;
    const amount = { value_nanos: value * DOLLAR, currency, occurred_at: START + second * 1_000 };
    return eventOf(applicationId, device, 'custom.purchase', { ...amount, status, tr_id });
  };
  const told = (
    tr_id: string,
    status: 'purchase' | 'trial' | 'refunded',
    more: Times & { of?: string } = {},
  ): LoggedEvent => ({
    ...{ type: 'store', id: newId('evt'), application_id: applicationId, day: '2026-03-02' },
    ...{ status, tr_id, store: 'apple', currency: more.currency ?? 'usd', creative_id: null },
    ...{ occurred_at: START + (more.second ?? 0) * 1_000, received_at: START + 60_000 },
    value_nanos: (more.value ?? 0) * DOLLAR,
    ...(more.of === undefined ? {} : { device_id: more.of, acquired_day: device.acquiredDay }),
  });
  /** Counts each of some events in a run of its own, or all in one, and returns the amounts that are handed over. */
  const amountsOf = async (events: readonly LoggedEvent[], runs: 'one by one' | 'at once') => {
    for (const some of runs === 'at once' ? [events] : events.map((event) => [event])) {
      await own.append(some);
      await own.feed();
    }
    return own.eventsOf(own.ids[0]).map(({ type, event }) => {
      const { value_nanos = 0, currency = '' } = event as { value_nanos?: number; currency?: string };
      return [type, value_nanos / DOLLAR, currency];
    });
  };
  return { own, device, sent, told, amountsOf };
}

const RUNS = ['one by one', 'at once'] as const;

it.each(RUNS)('tells of a refund the amount that it takes back, counted %s', async (runs) => {
  const { sent, told, amountsOf } = await startPaying();
  const events = [
    // The whole.
    ...[sent('1', 'completed'), sent('1', 'refunded', { second: 1 })],
    // A part, and what is left; then nothing is.
    ...[sent('2', 'completed'), sent('2', 'refunded', { second: 1, value: 3 })],
    ...[sent('2', 'refunded', { second: 2 }), sent('2', 'refunded', { second: 3 })],
    // More than is left.
    ...[sent('3', 'completed'), sent('3', 'refunded', { second: 1, value: 7 })],
    sent('3', 'refunded', { second: 2, value: 8 }),
    // A part that comes after the whole, and happened before: nothing more is taken back.
    ...[
      sent('4', 'completed'),
      sent('4', 'refunded', { second: 2 }),
      sent('4', 'refunded', { second: 1, value: 2 }),
    ],
    // Taken back, and refunded again.
    ...[
      sent('5', 'completed'),
      sent('5', 'refunded', { second: 1 }),
      sent('5', 'refund_reversed', { second: 2 }),
    ],
    sent('5', 'refunded', { second: 3 }),
    // A store tells of the refund, and what was paid in its currency.
    ...[told('6', 'purchase', { value: 9, currency: 'eur' }), told('6', 'refunded', { second: 1 })],
    ...[sent('7', 'completed'), told('7', 'refunded', { second: 1, value: 4, currency: 'eur' })],
    sent('7', 'refunded', { second: 2 }),
  ];
  expect(await amountsOf(events, runs)).toEqual([
    ...[
      ['purchase', 10, 'usd'],
      ['refund', 10, 'usd'],
    ],
    ...[
      ['purchase', 10, 'usd'],
      ['refund', 3, 'usd'],
      ['refund', 7, 'usd'],
    ],
    ...[
      ['purchase', 10, 'usd'],
      ['refund', 7, 'usd'],
      ['refund', 3, 'usd'],
    ],
    ...[
      ['purchase', 10, 'usd'],
      ['refund', 10, 'usd'],
    ],
    ...[
      ['purchase', 10, 'usd'],
      ['refund', 10, 'usd'],
      ['refund', 10, 'usd'],
    ],
    ...[
      ['purchase', 9, 'eur'],
      ['refund', 9, 'eur'],
    ],
    ...[
      ['purchase', 10, 'usd'],
      ['refund', 4, 'eur'],
    ],
  ]);
});

it.each(RUNS)(
  'tells of a refund that comes before its purchase what it says itself, counted %s',
  async (runs) => {
    const { sent, amountsOf } = await startPaying();
    const part = [sent('1', 'refunded', { second: 1, value: 3 }), sent('1', 'completed')];
    const whole = [sent('2', 'refunded', { second: 1 }), sent('2', 'completed')];
    const never = sent('3', 'refunded');
    expect(await amountsOf([...part, sent('1', 'refunded', { second: 2 }), ...whole, never], runs)).toEqual([
      ...[
        ['refund', 3, 'usd'],
        ['purchase', 10, 'usd'],
        ['refund', 7, 'usd'],
      ],
      ...[
        ['refund', 0, 'usd'],
        ['purchase', 10, 'usd'],
        ['refund', 0, 'usd'],
      ],
    ]);
  },
);

it.each(RUNS)(
  'tells of the purchase of a payment without device the amount that counts, counted %s',
  async (runs) => {
    const { sent, told, amountsOf } = await startPaying();
    const events = [told('1', 'purchase', { value: 9, currency: 'eur' }), sent('1', 'completed')];
    expect(await amountsOf(events, runs)).toEqual([
      ['purchase', 9, 'eur'],
      ['purchase', 9, 'eur'],
    ]);
  },
);

it('hands over an ad impression of an unknown device, but not to who wants paid devices', async () => {
  const own = await startFeeding(
    newId('app'),
    { events: ['ad'], filter: { country: 'de' } },
    { events: ['ad'], filter: { paid_only: true } },
  );
  const of = (country: string): LoggedEvent => ({
    ...{ type: 'mediation.ad', id: newId('evt'), application_id: own.applicationId, day: '2026-03-02' },
    ...{
      occurred_at: Date.now(),
      received_at: Date.now(),
      keys: [`i:${country}`],
      country,
      creative_id: null,
    },
    ...{
      ad_id: 'p1',
      source: 'unknown',
      media_source: 'unity_ads',
      value_nanos: 12_500_000,
      currency: 'usd',
    },
  });
  await own.append([of('de'), of('de'), of('fr')]);
  await own.feed();
  const [first, second] = own.ids;
  expect(own.eventsOf(first)).toMatchObject([{ type: 'ad', device: null, event: { country: 'de' } }]);
  expect(own.eventsOf(second)).toEqual([]);
});

const idOf = ({ id }: LoggedEvent) => id;

it('hands over once what a client and its store tell of a payment', async () => {
  const own = await startFeeding(newId('app'), { events: ['purchase', 'refund'] });
  const { applicationId } = own;
  const [device] = await own.createDevices(1);
  if (!device) throw new Error('no device');
  const sent = (tr_id: string) => eventOf(applicationId, device, 'custom.purchase', { tr_id });
  let second = 0;
  const told = (tr_id: string, status: 'purchase' | 'refunded' | 'refund_reversed', deviceId?: string) => ({
    ...{ type: 'store' as const, id: newId('evt'), application_id: applicationId, day: device.acquiredDay },
    ...{ status, tr_id, store: 'apple' as const, currency: 'usd', creative_id: null },
    ...{
      occurred_at: Date.now() + 1_000 * second++,
      received_at: Date.now(),
      value_nanos: status === 'purchase' ? 1e9 : 0,
    },
    ...(deviceId === undefined ? {} : { device_id: deviceId, acquired_day: device.acquiredDay }),
  });
  const client = sent('client first');
  const store = told('store first', 'purchase', device.id);
  const unnamed = told('without a device', 'purchase');
  const named = sent('without a device');
  const refund = told('client first', 'refunded');
  const again = told('client first', 'refunded');
  const reversal = told('client first', 'refund_reversed');
  const later = told('client first', 'refunded');
  await own.append([client, store, unnamed]);
  await own.feed();
  await own.append([told('client first', 'purchase', device.id), sent('store first'), named]);
  await own.append([refund, again, reversal]);
  await own.feed();
  expect(own.idsOf(own.ids[0])).toEqual([client, store, unnamed, named, refund].map(idOf));
  const waiting = told('unknown', 'refunded');
  await own.append([later, waiting]);
  await own.feed();
  expect(own.idsOf(own.ids[0]).slice(5)).toEqual([later, waiting].map(idOf));
});
