import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  MAX_EVENT_QUEUES,
  numberOfBinding,
  numberOfQueue,
  queueBinding,
  queueIndex,
  queueName,
} from '#lib/event-queues';

it.each([
  [0, 'EVENTS', 'attribution-acme-events'],
  [1, 'EVENTS_1', 'attribution-acme-events-1'],
  [63, 'EVENTS_63', 'attribution-acme-events-63'],
])('names queue %i after the first, which has no number', (number, binding, name) => {
  expect([queueBinding(number), queueName('attribution-acme-events', number)]).toEqual([binding, name]);
  expect([numberOfBinding(binding), numberOfQueue(name)]).toEqual([number, number]);
});

it.each([
  'EVENTS_0',
  'EVENTS_01',
  'EVENTS_',
  'EVENTS_1x',
  'EVENTS_100',
  'EVENT_QUEUES',
  'RAW_EVENTS',
  'events',
])('does not take the binding %s for an event queue', (binding) => {
  expect(numberOfBinding(binding)).toBeNull();
});

const queues = fc.integer({ min: 1, max: MAX_EVENT_QUEUES });
const shards = fc.integer({ min: 1, max: 64 });

it('spreads the shards of an application evenly over the queues', () => {
  fc.assert(
    fc.property(fc.string(), shards, queues, (applicationId, count, number) => {
      const taken = Array.from({ length: number }, () => 0);
      for (let shard = 0; shard < count; shard++) {
        const index = queueIndex(applicationId, shard, number);
        expect(queueIndex(applicationId, shard, number)).toBe(index);
        taken[index] = (taken[index] ?? Number.NaN) + 1;
      }
      expect(taken).toHaveLength(number);
      expect(Math.max(...taken) - Math.min(...taken)).toBeLessThanOrEqual(1);
    }),
  );
});

it('spreads applications with a single shard over the queues', () => {
  const taken = Array.from({ length: 3 }, () => 0);
  for (let number = 0; number < 3_000; number++) {
    const index = queueIndex(`app_${number}`, 0, 3);
    taken[index] = (taken[index] ?? Number.NaN) + 1;
  }
  for (const count of taken) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
