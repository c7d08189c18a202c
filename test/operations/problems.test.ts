import { expect, it } from 'vitest';
import { findApplicationProblems, findDeploymentProblems } from '#operations';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 2, 28, 9, 30);

type Deployment = Parameters<typeof findDeploymentProblems>[0];
type Run = NonNullable<Deployment['runs']['chores']>;
type Health = Parameters<typeof findApplicationProblems>[0];
type Counters = NonNullable<Health['counters']>;

const run = (changes: Partial<Run> = {}): Run => ({
  schedule: 'chores',
  ranAt: NOW - MINUTE,
  succeededAt: NOW - MINUTE,
  failure: null,
  ...changes,
});

const RUNS: Deployment['runs'] = {
  chores: run(),
  'exchange rates': run({ schedule: 'exchange rates' }),
  snapshot: run({ schedule: 'snapshot' }),
  months: run({ schedule: 'months' }),
};

const deployment = (changes: Partial<Deployment> = {}): Deployment => ({
  runs: RUNS,
  since: NOW - MINUTE,
  snapshotAt: undefined,
  ratesOff: false,
  databaseBytes: 1e6,
  filed: new Map(),
  queues: [],
  missingQueues: [],
  invalidSettings: [],
  ...changes,
});

const counters = (changes: Partial<Counters> = {}): Counters => ({
  pending: 0,
  oldestPendingAt: null,
  countedThrough: NOW,
  lastAppendedAt: null,
  slowestMs: null,
  outbox: 0,
  sequence: 0,
  flushError: null,
  appendError: null,
  hasGap: false,
  exportError: null,
  devices: 0,
  isLost: false,
  unknownEvents: 0,
  hotEvents: 0,
  bytes: 1e6,
  implausible: [],
  ...changes,
});

const health = (
  changes: Partial<Counters> | null,
  backlog: Health['backlog'] = { events: 0, oldestAt: null },
) => ({
  applicationId: 'app_1',
  counters: changes && counters(changes),
  backlog,
});

it.each<[string, Partial<Deployment>, string[]]>([
  ['nothing', {}, []],
  ['a new deployment whose schedules have never run', { runs: {} }, []],
  ['one without an application', { runs: {}, since: null }, []],
  [
    'one whose schedules have never run, after two periods of some',
    { runs: {}, since: NOW - 121 * MINUTE },
    [
      'Scheduled work has never run: alerts, digests and clean-up do not happen. The Worker lacks its cron triggers.',
      'Hourly work has never run.',
      'Old figures have never been moved to the bucket.',
    ],
  ],
  [
    'one whose daily schedules have never run, after two days',
    { runs: { chores: run(), months: run(), 'hourly chores': run() }, since: NOW - 2_881 * MINUTE },
    [
      'Exchange rates have never been fetched.',
      'There is no complete snapshot: the schedule that writes them has never run.',
    ],
  ],
  [
    'the same, if it fetches no rates',
    {
      runs: { chores: run(), months: run(), 'hourly chores': run(), snapshot: run() },
      since: 0,
      ratesOff: true,
    },
    [],
  ],
  [
    'a snapshot that the bucket has lost',
    { snapshotAt: null },
    ['There is no complete snapshot: the bucket no longer has the last one.'],
  ],
  [
    'a merge that failed an hour ago',
    { runs: { ...RUNS, months: run({ succeededAt: NOW - 60 * MINUTE, failure: 'no' }) } },
    [],
  ],
  [
    'merges that have failed for longer',
    { runs: { ...RUNS, months: run({ succeededAt: NOW - 3 * 24 * 60 * MINUTE, failure: 'R2 is down' }) } },
    ['Old figures have not been moved to the bucket for 3 d: R2 is down.'],
  ],
  [
    'merges that have never succeeded',
    { runs: { ...RUNS, months: run({ succeededAt: null, failure: 'no' }) } },
    ['Old figures have not been moved to the bucket: no.'],
  ],
  ['a run five minutes ago', { runs: { ...RUNS, chores: run({ ranAt: NOW - 5 * MINUTE }) } }, []],
  [
    'no run for longer',
    { runs: { ...RUNS, chores: run({ ranAt: NOW - 65 * MINUTE }) } },
    ['Scheduled work has not run for 1 h 5 min: alerts, digests and clean-up are late.'],
  ],
  [
    'a failure that has lasted ten minutes',
    { runs: { ...RUNS, chores: run({ succeededAt: NOW - 10 * MINUTE, failure: 'no' }) } },
    [],
  ],
  [
    'a failure that has lasted longer',
    {
      runs: {
        ...RUNS,
        chores: run({ succeededAt: NOW - 11 * MINUTE, failure: 'Failed chores: prune clicks' }),
      },
    },
    ['Scheduled work has failed for 11 min: Failed chores: prune clicks.'],
  ],
  [
    'hourly work that failed, until it succeeds',
    {
      runs: {
        ...RUNS,
        'hourly chores': run({ ranAt: NOW - 59 * MINUTE, succeededAt: NOW - 119 * MINUTE, failure: 'no' }),
      },
    },
    ['Hourly work has failed for 1 h 59 min: no.'],
  ],
  [
    'hourly work that has just been missed once',
    { runs: { ...RUNS, 'hourly chores': run({ ranAt: NOW - 125 * MINUTE }) } },
    [],
  ],
  [
    'hourly work that does not run',
    { runs: { ...RUNS, 'hourly chores': run({ ranAt: NOW - 126 * MINUTE }) } },
    ['Hourly work has not run for 2 h 6 min.'],
  ],
  [
    'work that has never succeeded',
    { runs: { ...RUNS, chores: run({ succeededAt: null, failure: 'Failed chores: prune clicks' }) } },
    ['Scheduled work has failed: Failed chores: prune clicks.'],
  ],
  [
    'exchange rates four days ago',
    { runs: { ...RUNS, 'exchange rates': run({ succeededAt: NOW - 4 * 1_440 * MINUTE }) } },
    [],
  ],
  [
    'older exchange rates',
    { runs: { ...RUNS, 'exchange rates': run({ succeededAt: NOW - 4 * 1_440 * MINUTE - 1 }) } },
    ['Exchange rates could not be fetched for 4 days or longer.'],
  ],
  [
    'exchange rates of which a source fails',
    {
      runs: {
        ...RUNS,
        'exchange rates': run({
          succeededAt: NOW - 5 * 1_440 * MINUTE,
          failure: 'Failed chores: fetch further exchange rates',
        }),
      },
    },
    [
      'Exchange rates could not be fetched for 4 days or longer: Failed chores: fetch further exchange rates.',
    ],
  ],
  [
    'a snapshot a day and a half ago',
    { runs: { ...RUNS, snapshot: run({ succeededAt: NOW - 36 * 60 * MINUTE }) } },
    [],
  ],
  [
    'an older one',
    { runs: { ...RUNS, snapshot: run({ succeededAt: NOW - 37 * 60 * MINUTE, failure: 'no' }) } },
    ['The last complete snapshot is 1 d 13 h old: no.'],
  ],
  [
    'no snapshot yet, because it fails',
    { runs: { ...RUNS, snapshot: run({ succeededAt: null, failure: 'no' }) } },
    ['There is no complete snapshot: no.'],
  ],
  ['a database of 8 GB', { databaseBytes: 8e9 }, []],
  ['a larger database', { databaseBytes: 8.1e9 }, ['The database holds 8,100 MB, 81% of what it can hold.']],
  [
    'a queue that delivers late, and one that does not answer',
    {
      queues: [
        { binding: 'EVENTS', messages: 9, deliveredThrough: NOW - 5 * MINUTE },
        { binding: 'EVENTS_1', messages: null, deliveredThrough: NOW - MINUTE / 4 },
      ],
    },
    [],
  ],
  [
    'a queue that is stuck',
    {
      queues: [
        { binding: 'EVENTS', messages: 0, deliveredThrough: NOW },
        { binding: 'EVENTS_1', messages: 9, deliveredThrough: NOW - 6 * MINUTE },
      ],
    },
    ['Events have waited for 6 min in the queue EVENTS_1 to be delivered.'],
  ],
  [
    'queues that are not bound',
    { missingQueues: ['EVENTS_1', 'EVENTS_2'] },
    [
      'EVENT_QUEUES includes queues that are not bound: EVENTS_1, EVENTS_2. The others take their events. Run `npm run org -- deploy`.',
    ],
  ],
  ['a silent bucket', { filed: null }, ['The bucket for raw events does not respond.']],
])('finds the problems of a deployment: %s', (_, changes, problems) => {
  expect(findDeploymentProblems(deployment(changes), NOW)).toEqual(problems);
});

it.each<[string, Health, number, string[]]>([
  ['nothing', health({}), 0, []],
  ['no answer', health(null), 0, ['Counting does not respond.']],
  [
    'filed messages',
    health({}),
    3,
    ['3 messages wait in the bucket: the database did not accept them for four days.'],
  ],
  [
    'a restored store',
    health({ hasGap: true }),
    0,
    [
      'Counting has stopped: the database or counting was restored to an earlier time, or lost what it stored. Resume it.',
    ],
  ],
  ['a log that refuses', health({ appendError: 'It refuses.' }), 0, ['It refuses.']],
  ['a failing export', health({ exportError: 'It fails.' }), 0, ['It fails.']],
  ['events that wait for an hour', health({ oldestPendingAt: NOW - 60 * MINUTE }), 0, []],
  [
    'events that wait for longer',
    health({ oldestPendingAt: NOW - 61 * MINUTE }),
    0,
    ['Events have waited for 1 h 1 min to be counted.'],
  ],
  [
    'events that a counter refuses',
    health({}, { events: 5, oldestAt: NOW - 2 * MINUTE }),
    0,
    ['Events have waited for 2 min to be counted.'],
  ],
  ['a large counter', health({ bytes: 9e9 }), 0, ['A counter holds 9,000 MB, 90% of what it can hold.']],
])('finds the problems of an application: %s', (_, of, filed, problems) => {
  expect(findApplicationProblems(of, { filed, losses: [] }, NOW)).toEqual(problems);
});
