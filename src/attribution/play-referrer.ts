import { CLICK_ID_PARAMETERS, NETWORKS } from '#networks';
import { readingsOf } from './referrer.ts';

/** What a device's Google Play reports beside the install referrer, under Google's names. Seconds since 1970; 0 is unknown. */
export const PLAY_TIMES = [
  'referrer_click_timestamp_seconds',
  'install_begin_timestamp_seconds',
  'referrer_click_timestamp_server_seconds',
  'install_begin_timestamp_server_seconds',
] as const;
type PlayTime = (typeof PLAY_TIMES)[number];

/** What is stored of it, to explain an attribution. */
export type PlayReferrer = {
  /** The network whose click id the referrer has; null if it has none, or one of an unknown network. */
  network: string | null;
  click_ids: Record<string, string>;
} & Partial<Record<PlayTime, number>>;

/** As of a click's parameters: a longer one would be cut, and useless. */
const MAX_CLICK_ID_CHARACTERS = 256;

function clickIdsOf(referrer: string | undefined): Record<string, string> {
  for (const parameters of readingsOf(referrer)) {
    const found = [...parameters].filter(
      ([name, value]) =>
        CLICK_ID_PARAMETERS.has(name) && value !== '' && value.length <= MAX_CLICK_ID_CHARACTERS,
    );
    if (found.length > 0) return Object.fromEntries(found);
  }
  return {};
}

/**
 * The click ids of networks in an install referrer, and Play's times. Ads of Google's app campaigns pass no tracking link, so `gclid`, `gbraid`
 * or `wbraid` is all that tells of them. Null if nothing is known.
 */
export function playReferrerOf(
  report: { install_referrer?: string | undefined } & Partial<Record<PlayTime, number | undefined>>,
): PlayReferrer | null {
  const click_ids = clickIdsOf(report.install_referrer);
  const known = PLAY_TIMES.map((name) => [name, report[name]] as const).filter(([, seconds]) => seconds);
  if (known.length === 0 && Object.keys(click_ids).length === 0) return null;
  const network = NETWORKS.find(({ clickIds }) => clickIds.some((name) => Object.hasOwn(click_ids, name)));
  const times: Partial<Record<PlayTime, number>> = Object.fromEntries(known);
  return { network: network?.id ?? null, click_ids, ...times };
}
