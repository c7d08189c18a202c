import { expect, it } from 'vitest';
import { simulateDevices, simulateEvents } from '../../src/cli/simulation/history.ts';
import { Random } from '../../src/cli/simulation/random.ts';
import { simulateStoreEvents } from '../../src/cli/simulation/stores.ts';

const NOW = Date.parse('2026-03-31T12:00:00Z');

const simulate = () =>
  simulateDevices(new Random(1), 400, 40, NOW, 1).flatMap((device, index) => {
    const events = simulateEvents(new Random(index), device, NOW);
    return simulateStoreEvents(new Random(index), device, events, NOW).map((told) => ({ told, events }));
  });

it('tells of trials, renewals, and refunds of purchases that clients sent', () => {
  const all = simulate();
  const kinds = all.map(({ told }) => `${told.type} ${told.period_type}`);
  expect(new Set(kinds)).toEqual(
    new Set(['CANCELLATION NORMAL', 'INITIAL_PURCHASE TRIAL', 'RENEWAL NORMAL']),
  );
  for (const { told, events } of all) {
    expect(told.event_timestamp_ms).toBeLessThanOrEqual(NOW);
    if (told.type !== 'CANCELLATION') continue;
    const payloads = events.map((event) => event.payload as Record<string, unknown>);
    expect(payloads).toContainEqual(
      expect.objectContaining({
        tr_id: told.transaction_id,
        value: -Number(told.price_in_purchased_currency),
      }),
    );
  }
});

it('tells the same with the same seed, each under an id of its own', () => {
  const ids = simulate().map(({ told }) => told.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(simulate()).toEqual(simulate());
});
