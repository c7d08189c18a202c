import { afterEach, expect, it, vi } from 'vitest';
import { inLongReportSlot, inReportSlot } from '#http';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

afterEach(() => vi.restoreAllMocks());

/** Occupies all slots of a team until `end` is called. */
async function occupySlots(teamId: string) {
  let end = () => undefined as unknown;
  const ended = new Promise((resolve) => {
    end = () => resolve(undefined);
  });
  const running = [1, 2].map(() => inReportSlot(teamId, () => ended));
  return async () => {
    end();
    await Promise.all(running);
  };
}

/** Moves the clock ahead at each reading, so that a wait of 10 s takes some 20 of them. */
function hurryClock() {
  const start = Date.now();
  let readings = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => start + readings++ * 500);
}

it('runs two reports of a team at once, the third when one has ended, and other teams’ at any time', async () => {
  const order: string[] = [];
  const end = await occupySlots('team_a');
  const third = inReportSlot('team_a', async () => order.push('third'));
  await inReportSlot('team_b', async () => order.push('another team’s'));
  order.push('two end');
  await end();
  await third;
  expect(order).toEqual(['another team’s', 'two end', 'third']);
});

it('runs one preview of a team at once, which leaves a slot to reports', async () => {
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = inLongReportSlot('team_p', () => promise.then(() => order.push('first preview')));
  const second = inLongReportSlot('team_p', async () => order.push('second preview'));
  // Another team's preview takes as many turns as the second one would.
  for (const _ of [1, 2]) await inLongReportSlot('team_q', async () => order.push('another team’s'));
  await inReportSlot('team_p', async () => order.push('a report'));
  resolve();
  await Promise.all([first, second]);
  expect(order).toEqual([
    ...['another team’s', 'another team’s', 'a report'],
    ...['first preview', 'second preview'],
  ]);
});

it('lets a slot rest for as long as its report took, longer while others wait, and a second at most', async () => {
  for (const [took, isContested, rest] of [
    [300, false, 300],
    [300, true, 900],
    [5_000, false, 1_000],
    [500, true, 1_000],
  ] as const) {
    const team = `team_r${took}${isContested}`;
    let now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    // Whoever waits looks again in each turn.
    const { setTimeout: wait } = globalThis;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void) =>
      wait(work, 0)) as typeof setTimeout);
    const end = await occupySlots(team);
    let isDone = false;
    const ask = () =>
      inReportSlot(team, async () => {
        isDone = true;
      });
    const early = isContested ? ask() : null;
    now += took;
    await end();
    const third = early ?? ask();
    now += rest - 1;
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    expect(isDone).toBe(false);
    now += 1;
    await third;
    vi.restoreAllMocks();
  }
});

it('frees the slot of a report that failed', async () => {
  for (let times = 0; times < 4; times++) {
    await expect(inReportSlot('team_c', () => Promise.reject(new Error('no report')))).rejects.toThrow(
      'no report',
    );
  }
});

it('frees the slots of requests that the runtime dropped', async () => {
  await occupySlots('team_d');
  const start = Date.now();
  vi.spyOn(Date, 'now').mockImplementation(() => start + 30_000);
  expect(await inReportSlot('team_d', async () => 'a report')).toBe('a report');
});

it('answers 429 once a report has waited for 10 s, and serves everything else of the team', async () => {
  const tenant = await createTenant();
  const end = await occupySlots(tenant.team.id);
  const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2026-01-01&to=2026-01-02`;
  expect((await worker.team(tenant, '/v1/applications')).status).toBe(200);
  hurryClock();
  const answer = await worker.team(tenant, path);
  expect([answer.status, answer.headers.get('Retry-After'), await answer.json()]).toEqual([
    429,
    '5',
    { message: 'Too many reports at once: your team may run 2 at the same time' },
  ]);
  vi.restoreAllMocks();
  await end();
  expect((await worker.team(tenant, path)).status).toBe(200);
});
