import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { database } from '#db';
import {
  createAccessToken,
  listAccessTokens,
  listKeysInGrace,
  replaceApiKey,
  revealApiKey,
  revokeAccessToken,
} from '#teams';
import { createTenant } from '../helpers/tenant.ts';

const db = database(env.DB);
const SECRET = env.KEY_ENCRYPTION_SECRET;
const HOUR_MS = 3_600_000;

it('lists the access tokens of a team alone, newest first, revoked ones with the time of the first revocation', async () => {
  const [mine, theirs] = [await createTenant(), await createTenant()];
  const { id } = await createAccessToken(db, mine.team.id, 'newer', 5_000, 1_000);
  expect(await revokeAccessToken(db, mine.team.id, id, 2_000)).toBe('newer');
  expect(await revokeAccessToken(db, mine.team.id, id, 3_000)).toBe('newer');
  await expect(revokeAccessToken(db, theirs.team.id, id, 4_000)).rejects.toMatchObject({ code: 'not_found' });
  expect(await listAccessTokens(db, mine.team.id)).toEqual([
    { id, name: 'newer', createdAt: 1_000, expiresAt: 5_000, revokedAt: 2_000 },
    expect.objectContaining({ name: 'test', expiresAt: null, revokedAt: null }),
  ]);
  expect((await listAccessTokens(db, theirs.team.id)).map(({ name }) => name)).toEqual(['test']);
});

it('reveals the current key only, and only to its team; lists earlier ones while they work', async () => {
  const [mine, theirs] = [await createTenant(), await createTenant()];
  const { id } = mine.application;
  const now = Date.now();
  expect(await revealApiKey(db, mine.team.id, id, SECRET)).toBe(mine.apiKey);
  expect(await listKeysInGrace(db, mine.team.id, id, now)).toEqual([]);
  const next = await replaceApiKey(db, mine.team.id, id, 2, SECRET, now);
  expect(next).not.toBe(mine.apiKey);
  expect(await revealApiKey(db, mine.team.id, id, SECRET)).toBe(next);

  const until = now + 2 * HOUR_MS;
  expect(await listKeysInGrace(db, mine.team.id, id, until - 1)).toEqual([{ expiresAt: until }]);
  expect(await listKeysInGrace(db, mine.team.id, id, until)).toEqual([]);
  expect(await listKeysInGrace(db, theirs.team.id, id, now)).toEqual([]);
  await expect(revealApiKey(db, theirs.team.id, id, SECRET)).rejects.toMatchObject({ code: 'not_found' });
  await expect(replaceApiKey(db, theirs.team.id, id, 0, SECRET, now)).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await revealApiKey(db, mine.team.id, id, SECRET)).toBe(next);
});

it('says so when a key was encrypted under another secret, and shows nothing', async () => {
  const { team, application } = await createTenant();
  await expect(
    revealApiKey(db, team.id, application.id, 'another-secret-of-thirty-two-bytes-0'),
  ).rejects.toThrow('the API key was encrypted under another secret');
});
