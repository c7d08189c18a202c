import { afterEach, expect, it, vi } from 'vitest';
import { givingWay, noteArrival } from '#http';

afterEach(() => vi.restoreAllMocks());

/** A clock that moves on by so many milliseconds at each turn of the event loop. */
function turnClock(now: number, milliseconds: number) {
  let turns = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => now + turns * milliseconds);
  const { setTimeout: wait } = globalThis;
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void) => {
    turns++;
    return wait(work, 0);
  }) as typeof setTimeout);
  return () => turns;
}

it('lets others have one turn if no request has arrived since it began', async () => {
  const turns = turnClock(Date.now() + 1e9, 1);
  noteArrival();
  await givingWay()();
  expect(turns()).toBe(1);
});

it('waits until a request that has just arrived is probably answered', async () => {
  const turns = turnClock(Date.now() + 2e9, 5);
  const giveWay = givingWay();
  noteArrival();
  await giveWay();
  expect(turns()).toBe(4);
});

it('goes on after 20 ms, however many requests arrive', async () => {
  const turns = turnClock(Date.now() + 3e9, 5);
  const giveWay = givingWay();
  const arriving = setInterval(noteArrival, 0);
  noteArrival();
  await giveWay();
  clearInterval(arriving);
  expect(turns()).toBe(4);
});
