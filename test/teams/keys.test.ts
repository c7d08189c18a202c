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
import { createTenant, type Tenant } from '../helpers/tenant.ts';

const db = database(env.DB);
const SECRET = env.KEY_ENCRYPTION_SECRET;
const HOUR_MS = 3_600_000;

const callerOf = ({ team }: Tenant, now: number) => ({ db, team, actor: 'me', now });

it('lists only the team’s access tokens, newest first, with the time of the first revocation', async () => {
  const [mine, theirs] = [await createTenant(), await createTenant()];
  const { id } = await createAccessToken(callerOf(mine, 1_000), 'newer', 5_000);
  await revokeAccessToken(callerOf(mine, 2_000), id);
  await revokeAccessToken(callerOf(mine, 3_000), id);
  await expect(revokeAccessToken(callerOf(theirs, 4_000), id)).rejects.toMatchObject({ code: 'not_found' });
  expect(await listAccessTokens(db, mine.team.id)).toEqual([
    { id, name: 'newer', createdBy: 'me', createdAt: 1_000, expiresAt: 5_000, revokedAt: 2_000 },
    expect.objectContaining({ name: 'test', expiresAt: null, revokedAt: null }),
  ]);
  expect((await listAccessTokens(db, theirs.team.id)).map(({ name }) => name)).toEqual(['test']);
});

it('reveals only the current key, and lists earlier ones while they work', async () => {
  const tenant = await createTenant();
  const { application } = tenant;
  const now = Date.now();
  const caller = callerOf(tenant, now);
  expect(await revealApiKey(caller, application, SECRET)).toBe(tenant.apiKey);
  expect(await listKeysInGrace(db, application, now)).toEqual([]);
  const next = await replaceApiKey(caller, application, 2, SECRET);
  expect(next).not.toBe(tenant.apiKey);
  expect(await revealApiKey(caller, application, SECRET)).toBe(next);

  const until = now + 2 * HOUR_MS;
  expect(await listKeysInGrace(db, application, until - 1)).toEqual([{ expiresAt: until }]);
  expect(await listKeysInGrace(db, application, until)).toEqual([]);
});

it('says if a key was encrypted under another secret, and shows nothing', async () => {
  const tenant = await createTenant();
  await expect(
    revealApiKey(callerOf(tenant, 1), tenant.application, 'another-secret-of-thirty-two-bytes-0'),
  ).rejects.toThrow('the API key was encrypted under another secret');
});
