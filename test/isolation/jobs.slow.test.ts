import { env } from 'cloudflare:workers';
import { beforeAll, expect, it, vi } from 'vitest';
import { runSchedule } from '../../src/schedule.ts';
import { MINUTES } from '../helpers/minutes.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import { createApplications, fillSides, type Side, type Sides, worker } from './sides.ts';
import { answersTo, differences, marksIn, storedOf } from './visible.ts';

// What the Worker does by itself, for all applications in turn: each gets what is its own, and an application that is deleted takes nothing of
// another one along.

const HOUR_MS = 3_600_000;
const HOOKS = 'https://hooks.example.com/';

let sides: Sides;
let posted: { url: string; body: string }[];

beforeAll(async () => {
  sides = await fillSides(await createApplications());
}, 300_000);

/** Runs every schedule at a time at which the hourly chores are due, too. Sources of rates and networks do not answer. */
async function runAll(at: number): Promise<void> {
  vi.setSystemTime(Math.ceil(at / HOUR_MS) * HOUR_MS);
  posted = [];
  const standIn = answerFetch((url, init) => {
    posted.push({ url, body: String(init.body ?? '') });
    return new Response(null, { status: url.startsWith(HOOKS) ? 200 : 503 });
  });
  for (const time of Object.values(MINUTES)) await runSchedule(time, worker.bindings).catch(() => undefined);
  standIn.mockRestore();
  vi.useRealTimers();
}

const everyone = () => Object.values(sides) as Side[];
const namesIn = (text: string) => everyone().filter((side) => marksIn(text, side).length > 0);

it('tells each team of its own alerts and figures alone', async () => {
  // Nothing was sent for hours, which the alert of each is about; then digests are due.
  const messages: { url: string; body: string }[] = [];
  for (const ahead of [6 * HOUR_MS, 48 * HOUR_MS, 49 * HOUR_MS]) {
    await runAll(Date.now() + ahead);
    messages.push(...posted.filter(({ url }) => url.startsWith(HOOKS)));
  }
  const readers = Map.groupBy(messages, ({ url }) => url);
  expect(readers.size).toBe(everyone().length);
  const named = [...readers.values()].map((own) => new Set(own.flatMap(({ body }) => namesIn(body))));
  for (const sidesNamed of named) expect(sidesNamed.size).toBe(1);
  expect(new Set(named.flatMap((one) => [...one]))).toEqual(new Set(everyone()));
});

it('writes the files and snapshots of each under its own name', async () => {
  await runAll(Date.now());
  const { objects } = await env.RAW_EVENTS.list();
  const ofApplications = objects.filter(({ key }) => key.includes('app_'));
  expect(ofApplications.length).toBeGreaterThan(0);
  for (const { key } of ofApplications) {
    const owner = everyone().find((side) => marksIn(key, side).length > 0);
    const text = await (await env.RAW_EVENTS.get(key))?.text();
    for (const other of everyone().filter((side) => side !== owner)) {
      expect(marksIn(text ?? '', other, [other.tenant.team.id, other.tenant.teamToken]), key).toEqual([]);
    }
  }
});

it('deletes an application and nothing of its sibling or of another team', async () => {
  const { ours, sibling, theirs } = sides;
  const seen = async () => ({
    ...(await answersTo(theirs)),
    ...(await storedOf(theirs)),
    ...(await storedOf(sibling, { withTeam: false })),
  });
  const before = await seen();
  const { application } = ours.tenant;
  const answer = await worker.team(ours.tenant, `/v1/applications/${application.id}`, {
    method: 'DELETE',
    body: { name: application.name },
  });
  expect(answer.status).toBe(200);
  expect(differences(before, await seen())).toEqual([]);
  const left = await storedOf(ours, { withTeam: false });
  expect(Object.keys(left).filter((row) => /^(costs|creatives|connectors|destinations) /.test(row))).toEqual(
    [],
  );
});
