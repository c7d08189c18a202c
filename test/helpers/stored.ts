import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { LoggedEvent } from '#catalogue';
import { counterOf, type StoredDevice } from '#counting';
import { readToken, type TokenClaims } from '#devices';

/** What a token says. Throws for what is no token of ours. */
export async function claimsOf(token: string): Promise<TokenClaims> {
  const claims = await readToken(token, env.TOKEN_SECRET);
  if (!claims) throw new Error('not a token');
  return claims;
}

/** The device of a token as its counter keeps it; null once it is erased. */
export async function storedDevice({
  applicationId,
  deviceId,
  shard,
}: TokenClaims): Promise<StoredDevice | null> {
  return counterOf(env, applicationId, shard).readDevice(deviceId);
}

/** How many devices a counter keeps. */
export const countDevices = async (applicationId: string, shard = 0): Promise<number> =>
  (await counterOf(env, applicationId, shard).health()).devices;

/** Raw events of the hot log of an application's counter, newest first. */
export async function loggedEvents(applicationId: string, shard = 0): Promise<LoggedEvent[]> {
  return (await counterOf(env, applicationId, shard).readLog({}, null, 100)).events;
}

/** The rows of a table of an application's counter. */
export async function counterRows(applicationId: string, table: string): Promise<Record<string, unknown>[]> {
  return runInDurableObject(counterOf(env, applicationId, 0), (_, state) =>
    state.storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
  );
}
