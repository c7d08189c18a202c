import { describe, expect, it } from 'vitest';
import {
  type AttemptEnding,
  afterAttempts,
  NO_FAILURES,
  reasonForOff,
  toTell,
} from '../../src/destinations/object/breaker.ts';
import { Lookup } from '../../src/destinations/object/lookup.ts';
import { waitAfter } from '../../src/destinations/object/retry-schedule.ts';
import { SetupReader } from '../../src/destinations/object/setup.ts';
import { activeSecrets, rotated } from '../../src/destinations/secrets.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/time.ts';
import { readStatus, retryAfterOf } from '../../src/networks/outbound/read-answer.ts';
import { type Bound, testBounds } from '../helpers/bounds.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 34, 56, 789);
const WAITS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];
const NO_JITTER = 0.5;

describe('the wait after a failed attempt', () => {
  it.each(WAITS.map((wait, index) => [index + 1, wait]))('%i: %i ms, a tenth more or less', (tries, wait) => {
    expect(waitAfter(tries, undefined, NO_JITTER)).toBe(wait);
    expect(waitAfter(tries, undefined, 0)).toBe(Math.round(0.9 * wait));
    expect(waitAfter(tries, undefined, 1)).toBe(Math.round(1.1 * wait));
  });

  it('ends with the last attempt, whatever the receiver asks for', () => {
    for (const asked of [undefined, 0, 1_000, DAY_MS])
      expect(waitAfter(WAITS.length + 1, asked, 0)).toBeNull();
  });
});

testBounds(
  'a Retry-After as long as the wait',
  WAITS.flatMap((wait, index): Bound[] => {
    const ask = (asked: number) => waitAfter(index + 1, asked, NO_JITTER);
    return [
      {
        name: `attempt ${index + 1}`,
        ...{ at: wait, ask },
        ...{ below: wait, exact: wait, above: Math.min(wait + 1, DAY_MS) },
      },
      {
        name: `attempt ${index + 1}, no wait`,
        ...{ at: 0, ask },
        ...{ below: wait, exact: wait, above: wait },
      },
      {
        name: `attempt ${index + 1}, a day`,
        ...{ at: DAY_MS, ask },
        ...{ below: Math.max(wait, DAY_MS - 1), exact: DAY_MS, above: DAY_MS },
      },
    ];
  }),
);

const answered = (status: number, retryAfter?: string) =>
  readStatus(
    { status, headers: new Headers(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }) },
    NOW,
  );

testBounds('the header Retry-After', [
  {
    name: 'a day in seconds',
    at: 86_400,
    ask: (seconds: number) => retryAfterOf(new Headers({ 'Retry-After': String(seconds) }), NOW),
    ...{ below: DAY_MS - 1_000, exact: DAY_MS, above: DAY_MS },
  },
  {
    name: 'a date of this second',
    ...{ at: Math.ceil(NOW / 1_000) * 1_000, step: 1_000 },
    ask: (at: number) => retryAfterOf(new Headers({ 'Retry-After': new Date(at).toUTCString() }), NOW),
    ...{ below: 0, exact: 211, above: 1_211 },
  },
]);

const outcome = (status: number) => {
  const { isDelivered, ...rest } = answered(status);
  return isDelivered ? 'delivered' : 'retry' in rest && rest.retry ? 'again' : 'failed';
};

testBounds('statuses', [
  {
    name: 'the first success',
    at: 200,
    ask: outcome,
    ...{ below: 'again', exact: 'delivered', above: 'delivered' },
  },
  {
    name: 'the last success',
    at: 299,
    ask: outcome,
    ...{ below: 'delivered', exact: 'delivered', above: 'again' },
  },
  {
    name: 'the first refusal',
    at: 400,
    ask: outcome,
    ...{ below: 'again', exact: 'failed', above: 'failed' },
  },
  {
    name: 'the last refusal',
    at: 428,
    ask: outcome,
    ...{ below: 'failed', exact: 'failed', above: 'again' },
  },
]);

const CALM = {
  ...{ id: 1, name: 'own', ...NO_FAILURES, lastSuccessAt: null, prunedAt: 0, format: 1 },
  ...{ hour: Math.floor(NOW / HOUR_MS), attempts: 7, failed: 3, attemptsBefore: 5, failedBefore: 2 },
};
const figures = (at: number, endings: readonly AttemptEnding[] = ['delivered']) => {
  const { attempts, failed, attemptsBefore, failedBefore } = afterAttempts(CALM, endings, at);
  return [attempts, failed, attemptsBefore, failedBefore];
};
const HOUR_AT = CALM.hour * HOUR_MS;

testBounds('attempts of this hour and the last', [
  {
    name: 'this hour begins',
    at: HOUR_AT,
    ask: figures,
    ...{ below: [1, 0, 0, 0], exact: [8, 3, 5, 2], above: [8, 3, 5, 2] },
  },
  {
    name: 'the next hour begins',
    ...{ at: HOUR_AT + HOUR_MS, ask: figures },
    ...{ below: [8, 3, 5, 2], exact: [1, 0, 7, 3], above: [1, 0, 7, 3] },
  },
  {
    name: 'the hour after the next begins',
    ...{ at: HOUR_AT + 2 * HOUR_MS, ask: figures },
    ...{ below: [1, 0, 7, 3], exact: [1, 0, 0, 0], above: [1, 0, 0, 0] },
  },
]);

const failing = (since: number, outageTold = 0, failuresInRow = 0, told = 0) => ({
  ...CALM,
  ...{ failingSince: NOW - since, outageTold, failuresInRow, told },
});
const outage = (told: number) => (lasts: number) => toTell(failing(lasts, told), NOW).outageMs;
const failures = (told: number) => (row: number) => toTell(failing(0, 0, row, told), NOW).failures;

testBounds('what people are told of failures', [
  { name: 'an hour', at: HOUR_MS, ask: outage(0), ...{ below: null, exact: HOUR_MS, above: HOUR_MS } },
  { name: 'a day', at: DAY_MS, ask: outage(HOUR_MS), ...{ below: null, exact: DAY_MS, above: DAY_MS } },
  {
    name: 'two days',
    at: 2 * DAY_MS,
    ask: outage(DAY_MS),
    ...{ below: null, exact: 2 * DAY_MS, above: 2 * DAY_MS },
  },
  {
    name: 'two days, told of none',
    at: 2 * DAY_MS,
    ask: outage(0),
    ...{ below: DAY_MS, exact: 2 * DAY_MS, above: 2 * DAY_MS },
  },
  {
    name: 'two days, told',
    at: 2 * DAY_MS,
    ask: outage(2 * DAY_MS),
    ...{ below: null, exact: null, above: null },
  },
  { name: 'five failures', at: 5, ask: failures(0), ...{ below: null, exact: 5, above: 5 } },
  { name: 'five failures, told', at: 5, ask: failures(5), ...{ below: null, exact: null, above: null } },
  { name: 'ten failures', at: 10, ask: failures(5), ...{ below: null, exact: 10, above: 10 } },
  {
    name: 'twenty failures switch it off',
    ...{ at: 20, ask: (row: number) => reasonForOff(failing(0, 0, row), NOW) !== null },
    ...{ below: false, exact: true, above: true },
  },
  {
    name: 'three days without a success switch it off',
    ...{ at: 3 * DAY_MS, ask: (lasts: number) => reasonForOff(failing(lasts), NOW) !== null },
    ...{ below: false, exact: true, above: true },
  },
]);

describe('the state after attempts', () => {
  it('keeps when failures began, and forgets them with a success', () => {
    const first = afterAttempts(CALM, ['again', 'failed'], NOW);
    expect(first).toMatchObject({ failingSince: NOW, failuresInRow: 1, lastSuccessAt: null });
    const second = afterAttempts({ ...first, told: 5, outageTold: HOUR_MS }, ['failed'], NOW + HOUR_MS);
    expect(second).toMatchObject({ failingSince: NOW, failuresInRow: 2, told: 5, outageTold: HOUR_MS });
    const third = afterAttempts(second, ['failed', 'delivered'], NOW + 2 * HOUR_MS);
    expect(third).toMatchObject({ ...NO_FAILURES, lastSuccessAt: NOW + 2 * HOUR_MS });
    expect(third).toMatchObject({ attempts: 2, failed: 1, attemptsBefore: 1, failedBefore: 1 });
  });
});

const SECRETS = [
  { secret: 'now', endsAt: null },
  { secret: 'before', endsAt: NOW },
];

testBounds('signing secrets', [
  {
    name: 'a former secret ends',
    ...{ at: NOW, ask: (now: number) => activeSecrets(SECRETS, now) },
    ...{ below: ['now', 'before'], exact: ['now'], above: ['now'] },
  },
  {
    name: 'a secret signs for a day after the next has come',
    at: NOW + DAY_MS,
    ask: (now: number) => activeSecrets(rotated([{ secret: 'old', endsAt: null }], 'new', NOW), now),
    ...{ below: ['new', 'old'], exact: ['new'], above: ['new'] },
  },
  {
    name: 'a rotation does not renew an older secret',
    ...{ at: NOW, ask: (now: number) => activeSecrets(rotated(SECRETS, 'newest', NOW - 1), now) },
    ...{ below: ['newest', 'now'], exact: ['newest', 'now'], above: ['newest', 'now'] },
  },
]);

/** How often a reader that has read at `NOW` loads by a later time. */
async function loads(after: number): Promise<number> {
  let count = 0;
  const reader = new SetupReader(() => {
    count++;
    return Promise.resolve(null);
  });
  await reader.read(NOW);
  await reader.read(NOW + after);
  return count;
}

async function lookUps(after: number): Promise<number> {
  let count = 0;
  const names = new Lookup<string>((ids) => {
    count++;
    return Promise.resolve(new Map([...ids].map((id) => [id, id])));
  });
  const ids = new Set(['one']);
  for (const at of [NOW, NOW + after]) await names.of(ids, ids, at);
  return count;
}

testBounds('what is remembered', [
  { name: 'settings, for a minute', at: MINUTE_MS, ask: loads, ...{ below: 1, exact: 2, above: 2 } },
  { name: 'names, for ten minutes', at: 10 * MINUTE_MS, ask: lookUps, ...{ below: 1, exact: 1, above: 2 } },
]);
