import { expect, it } from 'vitest';
import { bytesOfADay, type Consumption, priceOfAMillion } from './price.ts';

const nothing: Consumption = {
  requests: 0,
  cpuMilliseconds: 0,
  queueOperations: 0,
  rows: 0,
  logLines: 0,
  objectCalls: 0,
  files: 0,
  bytes: { d1: 0, parts: 0, object: 0, file: 0 },
};
/** The cost of an object that is awake all day, shared by the 10 million events of the day. */
const AWAKE = 0.0138;

it.each<[string, Partial<Consumption>, number]>([
  ['requests', { requests: 1 }, 0.3],
  ['cpu', { cpuMilliseconds: 2 }, 0.04],
  ['queue', { queueOperations: 3 }, 1.2],
  ['rows', { rows: 0.6 }, 0.6],
  ['logs', { logLines: 2 }, 1.2],
  ['files', { files: 0.0001 }, 0.00045],
  // A GB: 400 days at $0.75, 30 days at $0.20, 400 days at $0.015.
  ['storage', { bytes: { d1: 1_000, parts: 0, object: 0, file: 0 } }, 10],
  ['storage', { bytes: { d1: 0, parts: 1_000, object: 0, file: 0 } }, 1.65],
  ['storage', { bytes: { d1: 0, parts: 0, object: 1_000, file: 0 } }, 0.2],
  ['storage', { bytes: { d1: 0, parts: 0, object: 0, file: 1_000 } }, 0.2],
])('computes the price of a million events for %s from %o', (part, consumption, dollars) => {
  const { total, parts } = priceOfAMillion({ ...nothing, ...consumption });
  expect(parts[part]).toBeCloseTo(dollars, 6);
  expect(total).toBeCloseTo(dollars + AWAKE, 3);
});

it('counts the calls of objects and their time awake together', () => {
  expect(priceOfAMillion({ ...nothing, objectCalls: 1 }).parts.objects).toBeCloseTo(0.15 + AWAKE, 4);
});

it('assumes that the rest of a day adds to D1 at most what the last runs added, or the last cycle of merges', () => {
  const events = 143 * 70_000;
  expect(bytesOfADay([5_000, 15_000, 15_500])).toBeCloseTo((10_000 + 141 * 500) / events);
  expect(bytesOfADay([0, 1_000])).toBeCloseTo((143 * 1_000) / events);
  const merged = Array.from(
    { length: 33 },
    (_, run) => 100 * run - (run > 15 ? 1_400 : 0) - (run > 30 ? 1_300 : 0),
  );
  expect(bytesOfADay(merged)).toBeCloseTo((500 + (111 / 15) * 200) / events);
});
