import { type DoubtFacts, type DoubtSettings, doubtsOf } from '#catalogue';
import type { ClickRow } from './find-clicks.ts';
import type { Attribution } from './match.ts';
import type { PlayReferrer } from './play-referrer.ts';
import { ORGANIC } from './rules/list.ts';
import { isImpressionId } from './rules/rule.ts';

const toMs = (seconds: number | undefined) => (seconds ? seconds * 1000 : null);

/** What the rules are asked. `rows` are the clicks that were read for the device; named clicks may be of any address. */
function factsOf(
  { click_id, earlier_installs }: Attribution,
  rows: readonly ClickRow[],
  clickedAt: number | null,
  acquiredAt: number,
  play: PlayReferrer | null,
): DoubtFacts {
  const isClick = click_id !== null && !isImpressionId(click_id);
  const address = isClick ? (rows.find(({ id }) => id === click_id)?.ip_hash ?? null) : null;
  const ofAddress = rows.filter(({ id, ip_hash }) => ip_hash === address && !isImpressionId(id));
  return {
    clicked_at: isClick ? clickedAt : null,
    first_opened_at: acquiredAt,
    play_clicked_at: toMs(play?.referrer_click_timestamp_server_seconds),
    play_install_began_at: toMs(play?.install_begin_timestamp_server_seconds),
    earlier_installs: isClick ? earlier_installs : null,
    address_clicks: address === null ? null : ofAddress.length,
  };
}

type Asked = {
  rows: readonly ClickRow[];
  /** Of the credited click; epoch milliseconds. */
  clickedAt: number | null;
  acquiredAt: number;
  play: PlayReferrer | null;
  settings: DoubtSettings;
};

/** Adds what rules doubt of an attributed install. If one of them excludes it, the device is organic instead. */
export function doubtInstall(attribution: Attribution, asked: Asked): Attribution {
  if (attribution.creative_id === null) return attribution;
  const facts = factsOf(attribution, asked.rows, asked.clickedAt, asked.acquiredAt, asked.play);
  const { doubts, notChecked } = doubtsOf(facts, asked.settings);
  const doubted: Attribution = {
    ...attribution,
    doubt_facts: facts,
    ...(doubts.length > 0 ? { doubts } : {}),
    ...(notChecked.length > 0 ? { doubts_not_checked: notChecked } : {}),
  };
  if (!doubts.some(({ action }) => action === 'exclude')) return doubted;
  const { method, creative_id, click_id } = attribution;
  const excluded = { method, creative_id, click_id };
  return { ...doubted, method: ORGANIC, creative_id: null, click_id: null, excluded };
}
