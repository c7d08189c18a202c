import { type Credit, clickWasTaken, creditStatements, prepareAttribution, undoCredits } from '#attribution';
import { counterOf, homeShard, type PlacedDevice } from '#counting';
import { batchWithRetry } from '#db';
import type { AuthenticatedApplication } from '#http';
import type { Draft, NewDraft } from './draft.ts';

type TokenRow = { id: string; deviceId: string };

export type Unattributed = {
  unknown: readonly Draft[];
  attribute: Awaited<ReturnType<typeof prepareAttribution<Draft>>>;
  tokens: readonly TokenRow[];
  expiresAt: number;
};

/**
 * Attributes the unknown devices, credits their clicks and inserts all tokens, in one transaction. Where another device was
 * credited to a click meanwhile, they are attributed anew: that click is then found taken, so the tries end with the clicks.
 */
export async function creditAndInsertTokens(
  env: Env,
  applicationId: string,
  { unknown, attribute, tokens, expiresAt }: Unattributed,
  now: number,
): Promise<NewDraft[]> {
  for (let attributions = attribute(unknown); ; ) {
    const made = unknown.flatMap((draft, index): NewDraft[] => {
      const attributed = attributions[index];
      return attributed ? [{ ...draft, ...attributed }] : [];
    });
    try {
      await batchWithRetry(env.DB, () => [
        ...creditStatements(env.DB, applicationId, made.flatMap(creditOf)),
        env.DB.prepare(INSERT_TOKENS).bind(applicationId, JSON.stringify(tokens), now, expiresAt),
      ]);
      return made;
    } catch (error) {
      if (!clickWasTaken(error)) {
        // It may have been written, and the answer lost.
        await tryToTakeBack(env, applicationId, made);
        throw error;
      }
    }
    attributions = (await prepareAttribution(env, applicationId, unknown, now))(unknown);
  }
}

/** A test build takes no click away from a customer. */
function creditOf({ attribution, test, deviceId, tokenId, claim }: NewDraft): Credit[] {
  const { click_id: clickId, creative_id: creativeId, method } = attribution;
  if (clickId === null || creativeId === null || test) return [];
  return [{ clickId, creativeId, deviceId, tokenId, claim, guessed: method === 'probabilistic' }];
}

/**
 * Where a call of the same identity made another device first, that one keeps its attribution: what was credited here is taken
 * back, and the tokens become that device's.
 */
export async function takeBack(
  env: Env,
  applicationId: string,
  outrun: readonly { draft: NewDraft; other: PlacedDevice }[],
  drafts: readonly Draft[],
): Promise<void> {
  const undone = outrun.flatMap(({ draft, other }) =>
    creditOf(draft).map((credit) => ({
      ...credit,
      heir: other.clickId === credit.clickId ? other.device.id : null,
    })),
  );
  const others = new Map(outrun.map(({ draft, other }) => [draft.claim, { draft, other }]));
  const moved = drafts.flatMap(({ claim, tokenId }) => {
    const one = others.get(claim);
    return one ? [{ id: tokenId, from: one.draft.deviceId, to: one.other.device.id }] : [];
  });
  await batchWithRetry(env.DB, () => [
    ...undoCredits(env.DB, applicationId, undone),
    env.DB.prepare(MOVE_TOKENS).bind(applicationId, JSON.stringify(moved)),
  ]);
}

/** After a counter failed: takes back the credit of those devices that did not come to be. Never throws. */
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
        // Nobody knows; a repeat under the same identity finds its own claim.
        return [];
      }
    }),
  );
  await tryToTakeBack(env, applicationId, lost.flat());
}

/** So that no click stays credited to a device that never came to be. What is not taken back is written to the log. */
async function tryToTakeBack(env: Env, applicationId: string, lost: readonly NewDraft[]): Promise<void> {
  const undone = lost.flatMap(creditOf).map((credit) => ({ ...credit, heir: null }));
  if (undone.length === 0) return;
  const tokens = undone.map(({ tokenId, deviceId }) => ({ id: tokenId, deviceId }));
  try {
    await batchWithRetry(env.DB, () => [
      ...undoCredits(env.DB, applicationId, undone),
      env.DB.prepare(DELETE_TOKENS).bind(applicationId, JSON.stringify(tokens)),
    ]);
  } catch (error) {
    const clicks = undone.map(({ clickId }) => clickId);
    console.warn(
      JSON.stringify({ level: 'warn', message: 'clicks stay claimed', clicks, error: String(error) }),
    );
  }
}

// Over ?1, the application, and ?2, the tokens as JSON.

const INSERT_TOKENS = `
  INSERT INTO tokens (id, application_id, device_id, created_at, expires_at)
  SELECT value ->> 'id', ?1, value ->> 'deviceId', ?3, ?4 FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`;

const MOVE_TOKENS = `
  UPDATE tokens SET device_id = value ->> 'to' FROM json_each(?2)
  WHERE tokens.device_id = value ->> 'from' AND tokens.id = value ->> 'id' AND tokens.application_id = ?1`;

const DELETE_TOKENS = `
  DELETE FROM tokens WHERE application_id = ?1
    AND (device_id, id) IN (SELECT value ->> 'deviceId', value ->> 'id' FROM json_each(?2))`;
