import {
  type DoubtFacts,
  type DoubtSettings,
  doubtsOf,
  type JudgedSources,
  type SourceDayFacts,
} from '#catalogue';
import { DAY_MS } from '#lib/time';
import type { Attribution } from './match.ts';
import type { PlayReferrer } from './play-referrer.ts';
import { ORGANIC } from './rules/list.ts';
import { isImpressionId } from './rules/rule.ts';

const toMs = (seconds: number | undefined) => (seconds ? seconds * 1000 : null);

/** The latest day of a creative. One of days ago, because none was judged since, would tell nothing of an install of today. */
export const sourceDayOf = (
  judged: JudgedSources | null,
  { creative_id }: Attribution,
  now: number,
): SourceDayFacts | null =>
  judged !== null && now - Date.parse(judged.day) < 3 * DAY_MS
    ? (judged.creatives[creative_id ?? ''] ?? null)
    : null;

/** What the rules are asked. */
function factsOf(
  { click_id, earlier_installs }: Attribution,
  { addressClicks, clickedAt, acquiredAt, play, sourceDay }: InstallEvidence,
): DoubtFacts {
  const isClick = click_id !== null && !isImpressionId(click_id);
  return {
    clicked_at: isClick ? clickedAt : null,
    first_opened_at: acquiredAt,
    play_clicked_at: toMs(play?.referrer_click_timestamp_server_seconds),
    play_install_began_at: toMs(play?.install_begin_timestamp_server_seconds),
    earlier_installs: isClick ? earlier_installs : null,
    address_clicks: isClick ? addressClicks : null,
    source_day: isClick ? sourceDay : null,
  };
}

type InstallEvidence = {
  /** See `DoubtFacts`. */
  addressClicks: number | null;
  /** Of the credited click; epoch milliseconds. */
  clickedAt: number | null;
  acquiredAt: number;
  play: PlayReferrer | null;
  settings: DoubtSettings;
  /** See `sourceDayOf`. */
  sourceDay: SourceDayFacts | null;
};

/** Adds what rules doubt of an attributed install. If one of them excludes it, the device is organic instead. */
export function doubtInstall(attribution: Attribution, evidence: InstallEvidence): Attribution {
  if (attribution.creative_id === null) return attribution;
  const facts = factsOf(attribution, evidence);
  const { doubts, notChecked } = doubtsOf(facts, evidence.settings);
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
