import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { makePostback, store } from '../skan/postbacks.ts';
import { createApplications, fillSides, type Side, type Sides } from './sides.ts';
import {
  answersTo,
  differences,
  freshWorker,
  marksIn,
  pagesOf,
  reportsTo,
  storedOf,
  toolsOf,
} from './visible.ts';

// What an application's team sees is the same whatever others do, and whatever an isolate remembers of them.

/** The App Store id of an app that nobody here has. */
const UNCLAIMED = '918273645';
/** Numbers the parts of the cube of each application from the same number on, all of one size. */
const ALIKE = `WITH ranked AS (
    SELECT application_id, rollup, grain, to_day, shard, sequence, number, 1000000 + row_number() OVER (
      PARTITION BY application_id, rollup, grain ORDER BY to_day, shard, sequence, number) AS rank
    FROM cube_parts)
  UPDATE cube_parts SET bytes = 1000, sequence = rank, number = 0 FROM ranked
  WHERE (cube_parts.application_id, cube_parts.rollup, cube_parts.grain, cube_parts.to_day, cube_parts.shard, cube_parts.sequence, cube_parts.number)
    = (ranked.application_id, ranked.rollup, ranked.grain, ranked.to_day, ranked.shard, ranked.sequence, ranked.number)`;

let sides: Sides;
let before: Record<string, string>;

const allOf = async (side: Side) => ({
  ...(await answersTo(side)),
  ...(await toolsOf(side)),
  ...(await pagesOf(side)),
});

beforeAll(async () => {
  sides = await fillSides(await createApplications(), async ({ theirs, sibling }) => {
    if (!theirs || sibling) return;
    before = { ...(await allOf(theirs)), ...(await storedOf(theirs)) };
    for (const test of [false, true]) await store(makePostback({ appId: UNCLAIMED, test }));
  });
}, 300_000);

it('does not change what another team sees and has', async () => {
  const { theirs } = sides;
  expect(differences(before, { ...(await allOf(theirs)), ...(await storedOf(theirs)) })).toEqual([]);
});

it('shows nobody anything of another team, or of nobody', async () => {
  const { ours, sibling, theirs } = sides;
  const [seen, seenByThem] = [await allOf(ours), await allOf(theirs)];
  expect(marksIn(seen, theirs)).toEqual([]);
  expect([...marksIn(seenByThem, ours), ...marksIn(seenByThem, sibling)]).toEqual([]);
  expect(JSON.stringify([seen, seenByThem])).not.toContain(UNCLAIMED);
});

it('answers with what a Worker remembers as one does that remembers nothing, even if all but the ids are alike', async () => {
  // Whatever else tells the parts of the cube apart is made alike, as it may be by chance.
  await env.DB.prepare(ALIKE).run();
  await reportsTo(sides.theirs);
  const remembered = await reportsTo(sides.ours);
  expect(differences(await reportsTo(sides.ours, await freshWorker(sides.ours)), remembered)).toEqual([]);
});
