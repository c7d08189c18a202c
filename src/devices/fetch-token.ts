import { prepareAttribution } from '#attribution';
import { counterOf, createDevices, type FoundDevice, type PlacedDevice, retryCall } from '#counting';
import { batchWithRetry, requireKnownDatabase } from '#db';
import { settingsOf } from '#env';
import { hashKeyOf } from '#hashing';
import type { AuthenticatedApplication } from '#http';
import { DAY_MS } from '#lib/time';
import { consentIn } from '#networks';
import { appleTokenOf, requestCredits } from './apple/open-credit.ts';
import { creditClicks, takeBackFailed, takeBackStatements } from './credit.ts';
import type { DeviceMetrics } from './device-metrics.ts';
import { type Draft, draftOf, installOf, type NewDraft, newDeviceOf } from './draft.ts';
import { KnownDevices } from './known-devices.ts';
import { placingAds } from './placing-ads.ts';
import { signToken } from './token.ts';
import { TokenRows } from './token-rows.ts';

/**
 * A device's token, and the creative that the device is attributed to. `followedId`: that of the link which led to this request, which may be another
 * if the device was known before; null if no link is known.
 */
export type IssuedToken = { token: string; creativeId: string | null; followedId: string | null };

/**
 * Creates devices (or finds those with the same identity) and a token for each, in the order of `metrics`. However many there are, this
 * takes one round trip to D1, which reads the clicks and stores the tokens of devices that are most likely new, and one to each counter,
 * which creates or finds the devices. If a click is credited, a second round trip to D1 comes in between, after asking the counters which
 * of the devices that would take a click are already known. A last one to D1 is needed if a token is still to be stored, or is stored
 * under a device that turned out to be another.
 *
 * The click is credited before the device is created, so that a device's attribution never changes. After a failure at any point the call
 * may be repeated: known devices are found, and a claim that was left behind belongs to the repetition. If a concurrent call with the
 * same identity was faster, its device is kept and what was credited here is undone.
 *
 * A device that Apple may attribute is created with its credit open, which is settled from the queue: see `apple/`. Its token says so.
 */
export async function fetchTokens(
  env: Env,
  application: AuthenticatedApplication,
  metrics: readonly DeviceMetrics[],
  now: number,
): Promise<IssuedToken[]> {
  await requireKnownDatabase(env.DB);
  const hashKey = await hashKeyOf(env);
  const drafts = await Promise.all(metrics.map((item) => draftOf(hashKey, application, item, now)));
  // Of several drafts with one identity, the first creates the device.
  const firsts = new Map(drafts.toReversed().map((draft) => [draft.claim, draft]));
  const candidates = [...firsts.values()].toReversed();
  const expiresAt = now + settingsOf(env).TOKEN_TTL_DAYS * DAY_MS;
  const tokens = new TokenRows(env.DB, application.id, drafts, { createdAt: now, expiresAt });
  const known = new KnownDevices(env, application);
  const devices = known.found;
  const deviceIdOf = ({ claim }: Draft) => devices.get(claim)?.device.id ?? firsts.get(claim)?.deviceId ?? '';
  const [attribute] = await Promise.all([
    prepareAttribution(env, application, candidates, now, {
      alongside: () => tokens.insert('first', deviceIdOf),
      placeAd: placingAds(env, application, now),
    }),
    known.ask(
      candidates.filter((draft) => draft.tokenStored === 'with_credit' || known.mayLiveElsewhere(draft)),
    ),
  ]);
  const insertTokens = () => tokens.insert('with_credit', deviceIdOf);
  const made = await creditClicks(env, application, { candidates, known, attribute, insertTokens }, now);
  const placed = await makeDevices(env, application, made, now);
  for (const { draft, device } of placed) devices.set(draft.claim, device);
  const lostRaces = placed.flatMap(({ draft, device }) =>
    device.device.id === draft.deviceId ? [] : [{ draft, other: device }],
  );
  const opened = placed.filter(
    ({ draft, device: { device } }) => device.creditOpen && device.id === draft.deviceId,
  );
  const statements = () => [
    ...takeBackStatements(env.DB, application.id, lostRaces),
    ...tokens.correct(deviceIdOf),
  ];
  await Promise.all([
    tellConsents(env, application.id, drafts, devices),
    statements().length > 0 ? batchWithRetry(env.DB, statements) : null,
    requestCredits(
      env,
      application.id,
      opened.map(({ device: { shard, device } }) => ({ shard, deviceId: device.id })),
    ),
  ]);
  const followed = linksFollowed(attribute, candidates, devices);
  return Promise.all(
    drafts.map(async (draft) => ({
      ...(await tokenOf(env, application.id, draft, devices, now, expiresAt)),
      followedId: followed.get(draft.claim) ?? null,
    })),
  );
}

/** Passes on what messages of devices that were known before tell of the person's choices. */
async function tellConsents(
  env: Env,
  applicationId: string,
  drafts: readonly Draft[],
  devices: ReadonlyMap<string, FoundDevice>,
): Promise<void> {
  const told = drafts.flatMap(({ claim, deviceId, metrics, acquiredAt: at }) => {
    const consent = consentIn(metrics);
    const found = devices.get(claim);
    if (!consent || !found || found.device.id === deviceId) return [];
    return [{ shard: found.shard, told: { deviceId: found.device.id, consent, at } }];
  });
  const byShard = Map.groupBy(told, ({ shard }) => shard);
  await Promise.all(
    Array.from(byShard, ([shard, own]) =>
      retryCall(() => counterOf(env, applicationId, shard).tellConsent(own.map((one) => one.told))),
    ),
  );
}

/**
 * The creatives whose links led to devices that were known before, by their claims. Nothing is credited for them: a device keeps its attribution,
 * but its person expects what the link promised that was just followed.
 */
function linksFollowed(
  attribute: Awaited<ReturnType<typeof prepareAttribution<Draft>>>,
  candidates: readonly Draft[],
  devices: ReadonlyMap<string, FoundDevice>,
): Map<string, string> {
  const returned = candidates.filter(({ claim, deviceId }) => devices.get(claim)?.device.id !== deviceId);
  const attributed = attribute(returned);
  return new Map(
    returned.flatMap(({ claim }, index) => {
      const { creative_id, ambiguous } = attributed[index]?.attribution ?? {};
      return creative_id && !ambiguous ? [[claim, creative_id] as const] : [];
    }),
  );
}

/** Creates the devices of these drafts in their counters, or finds them there. */
async function makeDevices(
  env: Env,
  application: AuthenticatedApplication,
  made: readonly NewDraft[],
  now: number,
): Promise<{ draft: NewDraft; device: PlacedDevice }[]> {
  if (made.length === 0) return [];
  const wanted = made.map((draft) => ({
    alias: draft.alias,
    device: newDeviceOf(draft, now),
    install: (shard: number) => installOf(application.id, draft, shard, now),
    appleToken: appleTokenOf(application, draft),
  }));
  const placed = await createDevices(env, application.id, application.shards, wanted).catch(
    async (error: unknown) => {
      await takeBackFailed(env, application, made);
      throw error;
    },
  );
  return made.flatMap((draft, index) => {
    const device = placed[index];
    return device ? [{ draft, device }] : [];
  });
}

async function tokenOf(
  env: Env,
  applicationId: string,
  { tokenId, claim }: Draft,
  devices: ReadonlyMap<string, FoundDevice>,
  now: number,
  expiresAt: number,
): Promise<Omit<IssuedToken, 'followedId'>> {
  const found = devices.get(claim);
  if (!found) throw new Error('Each token has a device');
  const { shard, device } = found;
  const token = await signToken(
    {
      tokenId,
      applicationId,
      deviceId: device.id,
      creativeId: device.creativeId,
      acquiredDay: device.acquiredDay,
      shard,
      creditOpen: device.creditOpen === true,
      createdAt: now,
      expiresAt,
    },
    settingsOf(env).TOKEN_SECRET,
  );
  return { token, creativeId: device.creativeId };
}
