import {
  type Credit,
  clickWasTaken,
  creditStatements,
  prepareAttribution,
  readClickParams,
  ruleOf,
  selectClickParams,
  undoCredits,
} from '#attribution';
import { counterOf, homeShard, type PlacedDevice } from '#counting';
import { batchWithRetry } from '#db';
import type { AuthenticatedApplication } from '#http';
import { logWarning } from '#lib/log';
import type { Draft, NewDraft } from './draft.ts';
import type { KnownDevices } from './known-devices.ts';
import { placingAds } from './placing-ads.ts';
import { deleteTokens } from './token-rows.ts';

type Attribute = Awaited<ReturnType<typeof prepareAttribution<Draft>>>;

type Unattributed = {
  candidates: readonly Draft[];
  known: KnownDevices;
  attribute: Attribute;
  /** Inserts the tokens that are stored together with the credits. */
  insertTokens: () => D1PreparedStatement[];
};

/**
 * Attributes the new devices and credits their clicks, in one transaction with the tokens that belong to it. If another device was credited
 * with a click in the meantime, it attributes them again. That click then counts as taken, so the attempts end at the latest when the
 * clicks do.
 */
export async function creditClicks(
  env: Env,
  application: AuthenticatedApplication,
  { candidates, known, attribute: first, insertTokens }: Unattributed,
  now: number,
): Promise<NewDraft[]> {
  for (let attribute = first; ; ) {
    const made = await attributeNew(attribute, candidates, known);
    const credits = made.flatMap(creditOf);
    const statements = () => [
      ...creditStatements(env.DB, application.id, credits),
      ...insertTokens(),
      ...(credits.length > 0 ? [selectClickParams(env.DB, application.id, credits)] : []),
    ];
    try {
      const results = statements().length > 0 ? await batchWithRetry(env.DB, statements) : [];
      return credits.length > 0 ? withParams(made, results.at(-1)?.results ?? []) : made;
    } catch (error) {
      if (!clickWasTaken(error)) {
        // The credit may have been written although the answer was lost.
        await tryToTakeBack(env, application.id, made);
        throw error;
      }
    }
    attribute = await prepareAttribution(env, application, candidates, now, {
      placeAd: placingAds(env, application, now),
    });
  }
}

/** Keeps the parameters of a credited click with its device, because the click is deleted once it is outside the window. */
function withParams(made: readonly NewDraft[], rows: readonly unknown[]): NewDraft[] {
  const params = readClickParams(rows);
  return made.map((draft) => {
    const click_params = params.get(draft.attribution.click_id ?? '');
    return click_params ? { ...draft, attribution: { ...draft.attribution, click_params } } : draft;
  });
}

/** A known device takes no click, so devices that would take one are looked up first. */
async function attributeNew(
  attribute: Attribute,
  candidates: readonly Draft[],
  known: KnownDevices,
): Promise<NewDraft[]> {
  for (;;) {
    const unknown = candidates.filter((draft) => !known.has(draft));
    const attributions = attribute(unknown);
    const made = unknown.flatMap((draft, index): NewDraft[] => {
      const attributed = attributions[index];
      return attributed ? [{ ...draft, ...attributed }] : [];
    });
    const unasked = made.filter((draft) => known.isUnasked(draft) && creditOf(draft).length > 0);
    if (unasked.length === 0) return made;
    await known.ask(unasked);
  }
}

/** A test build never takes a click away from a customer. */
function creditOf({ attribution, test, deviceId, tokenId, claim }: NewDraft): Credit[] {
  const { click_id: clickId, creative_id: creativeId, method } = attribution;
  if (clickId === null || creativeId === null || test) return [];
  return [{ clickId, creativeId, deviceId, tokenId, claim, guessed: ruleOf(method)?.guesses === true }];
}

/** Undoes the credits of devices that lost a race against another call. The devices that exist instead keep their own attribution. */
export function takeBackStatements(
  db: D1Database,
  applicationId: string,
  lostRaces: readonly { draft: NewDraft; other: PlacedDevice }[],
): D1PreparedStatement[] {
  const undone = lostRaces.flatMap(({ draft, other }) =>
    creditOf(draft).map((credit) => ({
      ...credit,
      replacementDeviceId: other.earlierClickId === credit.clickId ? other.device.id : null,
    })),
  );
  return undoCredits(db, applicationId, undone);
}

/** After a counter failed: undoes the credits of devices that were not created. Never throws. */
export async function takeBackFailed(
  env: Env,
  { id: applicationId, shards }: AuthenticatedApplication,
  made: readonly NewDraft[],
): Promise<void> {
  const credited = made.filter((draft) => creditOf(draft).length > 0);
  const lost = await Promise.all(
    credited.map(async (draft) => {
      const home = homeShard(draft.claim, shards);
      try {
        const device = await counterOf(env, applicationId, home).readDevice(draft.deviceId);
        return device === null ? [draft] : [];
      } catch {
        // Unknown; a retry with the same identity finds its own claim.
        return [];
      }
    }),
  );
  await tryToTakeBack(env, applicationId, lost.flat());
}

/** Frees clicks that are credited to a device that was never created. Logs the clicks that it could not free. */
async function tryToTakeBack(env: Env, applicationId: string, lost: readonly NewDraft[]): Promise<void> {
  const undone = lost.flatMap(creditOf).map((credit) => ({ ...credit, replacementDeviceId: null }));
  if (undone.length === 0) return;
  const rows = undone.map(({ tokenId, deviceId }) => ({ id: tokenId, deviceId }));
  try {
    await batchWithRetry(env.DB, () => [
      ...undoCredits(env.DB, applicationId, undone),
      deleteTokens(env.DB, applicationId, rows),
    ]);
  } catch (error) {
    const clickIds = undone.map(({ clickId }) => clickId).join(' ');
    logWarning('clicks stay claimed', error, { application_id: applicationId, click_ids: clickIds });
  }
}
