import { murmur128 } from './murmur.ts';

// A deployment has one event queue, or several with numbers from 0. The first has no number in its names, so a deployment that never
// needs a second one does not show any.

/** An application has at most 64 counters, and more queues than that would not help it. */
export const MAX_EVENT_QUEUES = 64;

const BINDING = 'EVENTS';
const NUMBERED_BINDING = /^EVENTS(?:_([1-9]\d?))?$/;
const NUMBERED_NAME = /-([1-9]\d?)$/;

/** The binding of a queue: EVENTS, EVENTS_1, EVENTS_2, … */
export const queueBinding = (number: number): string => (number === 0 ? BINDING : `${BINDING}_${number}`);

/** The number of the queue with this binding; null if it is not an event queue's. */
export function numberOfBinding(binding: string): number | null {
  const match = NUMBERED_BINDING.exec(binding);
  return match ? Number(match[1] ?? 0) : null;
}

/** The name of a queue, by that of the first: `acme-events`, `acme-events-1`, … */
export const queueName = (first: string, number: number): string =>
  number === 0 ? first : `${first}-${number}`;

/** The number in a queue's name. */
export const numberOfQueue = (name: string): number => Number(NUMBERED_NAME.exec(name)?.[1] ?? 0);

/**
 * Which of `queues` queues (at least 1) takes the events of an application's shard. The shards of an application are spread evenly.
 */
export const queueIndex = (applicationId: string, shard: number, queues: number): number =>
  queues === 1 ? 0 : (murmur128(applicationId)[0] + shard) % queues;
