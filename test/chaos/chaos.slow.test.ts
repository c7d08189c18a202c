import { expect, it } from 'vitest';
import { runChaos } from './chaos.ts';

it('counts every acknowledged event once, and delivers what it counted, whatever fails and whenever it is killed', async () => {
  const verdict = await runChaos(7, 20);
  expect(verdict.violations).toEqual([]);
  // That the storm was one.
  expect(verdict.acknowledged).toBeGreaterThan(300);
  expect(verdict.delivered).toBeGreaterThan(200);
  expect(verdict.faults).toMatchObject({ kills: expect.any(Number), takenSilently: expect.any(Number) });
  for (const name of [
    'kills',
    'refused',
    'takenSilently',
    'redelivered',
    'sentToOthers',
    'databaseFaults',
    'databaseFull',
    'databaseLocked',
    'databaseThrottled',
    'lostDevices',
    'parkedAsUnknown',
    'lostObjects',
    'bucketFaults',
    'deaths',
    'receivedAgain',
    'refusals',
    'redirected',
    'hung',
    'cutOff',
  ]) {
    expect(verdict.faults[name], name).toBeGreaterThan(0);
  }
});
