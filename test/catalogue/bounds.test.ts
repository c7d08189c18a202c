import { EventEnvelope, fieldsOf } from '#catalogue';
import { DAY_MS } from '#lib/time';
import { hourIdOf } from '../../src/catalogue/hours.ts';
import { type Bound, testBounds } from '../helpers/bounds.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const COMMON = { created_at: '2026-11-20 10:00:00', creativeToken: 'token' };

/** The day of retention that is counted when a client says one, for a device that is `age` days old by the dates. */
const countedAge =
  (age: number, place: 'payload' | 'envelope' = 'payload') =>
  (day: number) => {
    const envelope = EventEnvelope.parse({
      ...COMMON,
      type: 'retention',
      payload: place === 'payload' ? { retentionDay: day } : {},
      ...(place === 'envelope' ? { retention_day: day } : {}),
    });
    return 'age' in fieldsOf(envelope, age) ? (fieldsOf(envelope, age) as { age: number }).age : null;
  };

/** A time that is so many minutes from the midnight of clocks 90 minutes ahead of UTC. */
const hourAt = (minutes: number) =>
  hourIdOf({
    occurred_at: Date.UTC(2026, 10, 19, 22, 30) + minutes * 60_000,
    received_at: NOW,
    zone_offset: 90,
  });
const HOUR_ID = (hour: number) => hour * 256 + 128 + 6;

testBounds('days that a client says', [
  ...(['payload', 'envelope'] as const).flatMap((place): Bound[] => [
    {
      name: `a day less than by the dates, in the ${place}`,
      at: 6,
      ask: countedAge(7, place),
      ...{ below: 7, exact: 6, above: 7 },
    },
    {
      name: `a day more than by the dates, in the ${place}`,
      at: 8,
      ask: countedAge(7, place),
      ...{ below: 7, exact: 8, above: 7 },
    },
    {
      name: `the first day, in the ${place}`,
      at: 0,
      ask: countedAge(0, place),
      ...{ below: 0, exact: 0, above: 1 },
    },
    {
      name: `the second day as the first, in the ${place}`,
      at: 0,
      ask: countedAge(1, place),
      ...{ below: 1, exact: 0, above: 1 },
    },
    {
      name: `a week too much, in the ${place}`,
      at: 14,
      ask: countedAge(7, place),
      ...{ below: 7, exact: 7, above: 7 },
    },
    // Larger ones are malformed, and ignored.
    {
      name: `the largest day, in the ${place}`,
      at: 100_000,
      ask: countedAge(100_000, place),
      ...{ below: 99_999, exact: 100_000, above: 100_000 },
    },
  ]),
]);

testBounds('hours', [
  {
    name: 'a day begins',
    at: 0,
    ask: hourAt,
    ...{ below: HOUR_ID(23), exact: HOUR_ID(0), above: HOUR_ID(0) },
  },
  {
    name: 'an hour begins',
    at: 60,
    ask: hourAt,
    ...{ below: HOUR_ID(0), exact: HOUR_ID(1), above: HOUR_ID(1) },
  },
  {
    name: 'an event that arrived 33 days late',
    at: 33 * DAY_MS,
    ask: (late: number) => hourIdOf({ occurred_at: NOW - late, received_at: NOW }) !== null,
    ...{ below: true, exact: true, above: false },
  },
]);
