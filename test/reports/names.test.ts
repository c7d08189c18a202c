import { env } from 'cloudflare:workers';
import { beforeAll, expect, it } from 'vitest';
import { adsets, campaigns, creatives, database } from '#db';
import { LruCache } from '#lib/collections/lru-cache';
import { newId } from '#lib/ids';
import { CreativeNames, type KeptNames } from '../../src/reports/names.ts';
import { WatchedD1 } from '../helpers/d1.ts';

const applicationId = newId('app');
const db = database(env.DB);
const text = (name: string) => JSON.stringify([`${applicationId}_${name}`, name]);
const idOf = (name: string) => `${applicationId}_${name}`;

const add = (name: string, owner = applicationId) =>
  db.insert(creatives).values({
    ...{ id: idOf(name), applicationId: owner, adsetId: idOf('Set'), name, token: idOf(name), createdAt: 0 },
  });

beforeAll(async () => {
  const own = { applicationId, createdAt: 0 };
  await db.insert(campaigns).values({ ...own, id: idOf('Campaign'), name: 'Campaign' });
  await db.insert(adsets).values({ ...own, id: idOf('Set'), name: 'Set', campaignId: idOf('Campaign') });
  for (const name of ['Cat', 'Dog']) await add(name);
});

const keptNames = (max: number): KeptNames => new LruCache(max);

/** A report's names over the given kept ones, and how often they are read. */
function namesOf(kept: KeptNames, of = applicationId) {
  const watched = new WatchedD1(env.DB);
  const names = new CreativeNames(database(watched.asBinding()), of, ['creative', 'campaign'], kept);
  return { names, reads: () => watched.log.length };
}

it('reads the names of all creatives once per isolate', async () => {
  const kept = keptNames(1_000);
  const first = namesOf(kept);
  await first.names.use([idOf('Cat'), '']);
  expect(first.names.of(idOf('Cat'), 'creative')).toBe(text('Cat'));
  expect(first.names.of(idOf('Dog'), 'campaign')).toBe(text('Campaign'));
  expect(first.names.of('', 'creative')).toBe('');
  expect(first.reads()).toBe(2);
  const second = namesOf(kept);
  await second.names.use([idOf('Dog'), idOf('Cat')]);
  expect(second.names.of(idOf('Dog'), 'creative')).toBe(text('Dog'));
  expect(second.reads()).toBe(0);
});

it('reads new creatives, and those that do not exist at most twice per report', async () => {
  const kept = keptNames(1_000);
  await namesOf(kept).names.use([idOf('Cat')]);
  await add('Bird');
  const { names, reads } = namesOf(kept);
  await names.use([idOf('Cat'), idOf('Bird')]);
  expect(names.of(idOf('Bird'), 'creative')).toBe(text('Bird'));
  expect(reads()).toBe(2);
  for (const id of ['crt_none', 'crt_gone', 'crt_none']) await names.use([id]);
  expect(names.of('crt_none', 'creative')).toBe('');
  expect(reads()).toBe(4);
});

it("never has another application's names", async () => {
  const other = newId('app');
  const kept = keptNames(1_000);
  await namesOf(kept).names.use([idOf('Cat')]);
  const { names } = namesOf(kept, other);
  await names.use([idOf('Cat')]);
  expect(names.of(idOf('Cat'), 'creative')).toBe('');
  expect(names.of(idOf('Cat'), 'campaign')).toBe('');
});

it('drops the names unused for longest', async () => {
  const kept = keptNames(5);
  await namesOf(kept).names.use([idOf('Cat')]);
  const large = newId('app');
  for (const name of ['Ant', 'Bee', 'Fly']) await add(name, large);
  await namesOf(kept, large).names.use([idOf('Ant')]);
  const again = namesOf(kept);
  await again.names.use([idOf('Cat')]);
  expect(again.names.of(idOf('Cat'), 'creative')).toBe(text('Cat'));
  expect(again.reads()).toBe(2);
});
