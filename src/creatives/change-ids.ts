import type { Caller } from '#audit';
import type { Creative } from './answers.ts';
import { type ExternalId, listExternalIds } from './external-ids.ts';
import { changeAdset, changeCampaign } from './groups.ts';
import { changeCreative } from './list.ts';

/**
 * Adds or removes one id of a creative, or of its ad set or campaign. Idempotent. Throws `not_found` for another team's creative too, and
 * `conflict` if another item has the id.
 */
export async function changeExternalId(
  caller: Caller,
  creative: Pick<Creative, 'id' | 'adset_id' | 'campaign_id'>,
  { kind, ...wanted }: ExternalId,
  isWanted: boolean,
): Promise<void> {
  const itemId = { creative: creative.id, adset: creative.adset_id, campaign: creative.campaign_id }[kind];
  const others = (await listExternalIds(caller.db, [itemId]))
    .filter(({ network, id }) => network !== wanted.network || id !== wanted.id)
    .map(({ network, id }) => ({ network, id }));
  const changes = { external_ids: isWanted ? [...others, wanted] : others };
  if (kind === 'campaign') await changeCampaign(caller, itemId, changes);
  else if (kind === 'adset') await changeAdset(caller, itemId, changes);
  else await changeCreative(caller, itemId, changes, (end) => end);
}
