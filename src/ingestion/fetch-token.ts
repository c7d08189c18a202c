import { prepareAttribution } from '#attribution';
import { createDevices, type FoundDevice, findDevices } from '#counting';
import { settingsOf } from '#env';
import type { AuthenticatedApplication } from '#http';
import { DAY_MS } from '#lib/time';
import { creditAndInsertTokens, takeBack, takeBackFailed } from './credit.ts';
import type { DeviceMetrics } from './device-metrics.ts';
import { type Draft, draftOf, installOf, type NewDraft, newDeviceOf } from './draft.ts';
import { signToken } from './token.ts';

/**
 * Makes devices (or finds those of the same identity) and a token for each, in the order of `metrics`. However many there are, it
 * takes one round trip to D1, beside which the counters are asked for the devices that are known; one to D1, which credits the
 * clicks and stores the tokens; and, where a device is new, one to its counter, which stores it with its attribution and its
 * install. The second is repeated after reading again where another device was credited to the same click meanwhile.
 *
 * The click is credited before the device is made, so that a device's attribution never changes. After a failure at any point
 * the call may be repeated: known devices are found, and a claim that was left behind is the repeat's own. Where a call of the
 * same identity was faster, its device stands and what was credited here is taken back.
 */
export async function fetchTokens(
  env: Env,
  application: AuthenticatedApplication,
  metrics: readonly DeviceMetrics[],
  now: number,
): Promise<string[]> {
  const drafts = await Promise.all(metrics.map((item) => draftOf(env, application, item, now)));
  // Of several drafts of one identity the first makes the device.
  const firsts = new Map(drafts.toReversed().map((draft) => [draft.claim, draft]));
  const candidates = [...firsts.values()].toReversed();
  const [attribute, known] = await Promise.all([
    prepareAttribution(env, application.id, candidates, now),
    findDevices(
      env,
      application.id,
      application.shards,
      candidates.flatMap(({ alias }) => alias ?? []),
    ),
  ]);
  const unknown = candidates.filter(({ claim }) => !known.has(claim));
  const deviceIdOf = ({ claim }: Draft) => known.get(claim)?.device.id ?? firsts.get(claim)?.deviceId ?? '';
  const expiresAt = now + settingsOf(env).TOKEN_TTL_DAYS * DAY_MS;
  const tokens = drafts.map((draft) => ({ id: draft.tokenId, deviceId: deviceIdOf(draft) }));
  const made = await creditAndInsertTokens(
    env,
    application.id,
    { unknown, attribute, tokens, expiresAt },
    now,
  );
  const devices = new Map([...known, ...(await makeDevices(env, application, made, drafts, now))]);
  return Promise.all(drafts.map((draft) => tokenOf(env, application.id, draft, devices, now, expiresAt)));
}

/** The devices of these drafts by what claims them, made in their counters. */
async function makeDevices(
  env: Env,
  application: AuthenticatedApplication,
  made: readonly NewDraft[],
  drafts: readonly Draft[],
  now: number,
): Promise<[string, FoundDevice][]> {
  if (made.length === 0) return [];
  const wanted = made.map((draft) => ({
    alias: draft.alias,
    device: newDeviceOf(draft),
    install: (shard: number) => installOf(application.id, draft, shard, now),
  }));
  const placed = await createDevices(env, application.id, application.shards, wanted).catch(
    async (error: unknown) => {
      await takeBackFailed(env, application, made);
      throw error;
    },
  );
  const outrun = made.flatMap((draft, index) => {
    const other = placed[index];
    return other && other.device.id !== draft.deviceId ? [{ draft, other }] : [];
  });
  if (outrun.length > 0) await takeBack(env, application.id, outrun, drafts);
  return made.flatMap((draft, index): [string, FoundDevice][] => {
    const device = placed[index];
    return device ? [[draft.claim, device]] : [];
  });
}

function tokenOf(
  env: Env,
  applicationId: string,
  { tokenId, claim }: Draft,
  devices: ReadonlyMap<string, FoundDevice>,
  now: number,
  expiresAt: number,
): Promise<string> {
  const found = devices.get(claim);
  if (!found) throw new Error('Each token has a device');
  const { shard, device } = found;
  return signToken(
    {
      tokenId,
      applicationId,
      deviceId: device.id,
      creativeId: device.creativeId,
      acquiredDay: device.acquiredDay,
      shard,
      createdAt: now,
      expiresAt,
    },
    settingsOf(env).TOKEN_SECRET,
  );
}
