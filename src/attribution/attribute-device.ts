import type { DoubtSettings, JudgedSources } from '#catalogue';
import { settingsOf } from '#env';
import { hashKeyOf } from '#hashing';
import { decryptText } from '#lib/crypto';
import { idTime } from '#lib/ids';
import { canonicalTimezone, HOUR_MS, isTimezone } from '#lib/time';
import { networkOfParams, toNetwork } from '#networks';
import { hashAddress } from './address.ts';
import { readClickId } from './click-id.ts';
import { parseOs } from './device.ts';
import { type DeviceReport, paramsOf } from './device-report.ts';
import { doubtInstall, sourceDayOf } from './doubt-install.ts';
import { findClicks, toClick } from './find-clicks.ts';
import { type Attribution, attribute, type Hints, mayBeGuessed } from './match.ts';
import { decryptMetaAd, metaSourceOf, showMetaAd } from './meta-referrer.ts';
import type { AdItems, NetworkAd } from './network-ad.ts';
import { playReferrerOf } from './play-referrer.ts';
import { MATCH_RULES, ruleOf } from './rules/list.ts';
import { metaReferrer } from './rules/named.ts';
import type { Device } from './rules/rule.ts';

/** Whether the report itself names a click, passed on by the store or by the device's application. */
export const namesClick = (report: DeviceReport): boolean =>
  MATCH_RULES.some(({ clickIdIn }) => Boolean(clickIdIn?.(report)));

async function readHints(
  secret: string,
  applicationId: string,
  report: DeviceReport,
): Promise<Hints['named']> {
  const read = MATCH_RULES.map(async ({ method, clickIdIn }) => {
    const text = clickIdIn?.(report);
    const named = text ? await readClickId(secret, applicationId, text) : null;
    return named ? [{ ...named, method }] : [];
  });
  return (await Promise.all(read)).flat();
}

/** The tokens of creatives that a report names, by the method of the rule that found them. */
const creativeTokensIn = (report: DeviceReport): [method: string, token: string][] =>
  MATCH_RULES.flatMap(({ method, creativeTokenIn }) => {
    const token = creativeTokenIn?.(report);
    return token ? [[method, token] as [string, string]] : [];
  });

/** The ad in Meta's install referrer; null without one, and if the application's key is not that of the referrer. */
async function readMetaAd(key: string | null, { install_referrer }: DeviceReport) {
  if (key === null) return null;
  const source = metaSourceOf(install_referrer);
  const ad = source && (await decryptMetaAd(source, key));
  return ad && { ad, shown: showMetaAd(ad) };
}

const adKey = (ad: NetworkAd) => JSON.stringify(ad);

function describe(report: DeviceReport, ipHash: string | null, acquiredAt: number): Device {
  const { family, version } = parseOs(report.os_system, report.device_name, report.device_model);
  const { window_width: width, window_height: height } = report;
  return {
    osFamily: family,
    osVersion: version,
    models: [report.device_model, report.device_name],
    ipHash,
    timezone: isTimezone(report.timezone) ? canonicalTimezone(report.timezone) : null,
    window: width && height ? { width, height } : null,
    dpi: report.dpi || null,
    acquiredAt,
  };
}

/** A device that is to be attributed to a creative. */
export type Installation = {
  /** Identifies who may claim a click again after a failure: the device's alias, or its id if it has none. */
  claim: string;
  report: DeviceReport;
  /** When the device says it was first opened, in epoch milliseconds. */
  acquiredAt: number;
  /** A test build. It never takes a click away from a customer. */
  test: boolean;
};

/** The application that devices belong to. A change of its windows takes effect within 60 s, as long as API keys are cached. */
export type AttributionSettings = {
  id: string;
  /** Encrypted. Without it, Meta's install referrers are not read. */
  metaReferrerKey?: string | null;
  attributionWindowHours: number;
  probabilisticWindowHours: number;
  viewWindowHours: number;
  fraudRules?: DoubtSettings;
  judgedSources?: JudgedSources | null;
};

/**
 * Finds a creative for an ad that no creative has an id of, or creates one; null to leave the install without one. `items`: what else has
 * ids of the ad. A failure fails the whole attribution, which the sender repeats.
 */
export type PlaceAd = (ad: NetworkAd, items: AdItems) => Promise<string | null>;

/** `clickCountry` is the credited click's, as reported by the edge. `network` is empty if unknown. */
export type Attributed = { attribution: Attribution; clickCountry: string | null; network: string };

/**
 * Reads the clicks that may have led to some devices, in one round trip however many devices there are. The returned function finds the
 * creative of each device that turns out to be new, in their order; a given click is guessed for at most one of them, the first. The
 * only writes are those of the statements in `alongside`, in the same transaction, and of `placeAd`. Windows are measured from `now`.
 */
export async function prepareAttribution<Own extends Installation>(
  env: Env,
  application: AttributionSettings,
  installations: readonly Own[],
  now: number,
  { alongside, placeAd }: { alongside?: () => D1PreparedStatement[]; placeAd?: PlaceAd } = {},
): Promise<(chosen: readonly Own[]) => Attributed[]> {
  const secret = settingsOf(env).KEY_ENCRYPTION_SECRET;
  const hashKey = await hashKeyOf(env);
  const encrypted = application.metaReferrerKey;
  const metaKey = encrypted ? await decryptText(secret, encrypted) : null;
  const windows = {
    clickMs: application.attributionWindowHours * HOUR_MS,
    probabilisticMs: application.probabilisticWindowHours * HOUR_MS,
    viewThroughMs: application.viewWindowHours * HOUR_MS,
  };
  const sought = await Promise.all(
    installations.map(async ({ report, acquiredAt }) => {
      const ipHash = await hashAddress(hashKey, application.id, report.ip);
      const playReferrer = playReferrerOf(report);
      const meta = await readMetaAd(metaKey, report);
      // An ad of Meta's, or a network's click id, in the referrer is certain, and no guess may contradict it.
      const mayGuess = mayBeGuessed(acquiredAt, now) && !meta && !playReferrer?.network;
      return {
        device: describe(report, ipHash, acquiredAt),
        named: await readHints(secret, application.id, report),
        creativeTokens: creativeTokensIn(report),
        playReferrer,
        ad: meta?.ad ?? null,
        metaAd: meta?.shown,
        guessable: mayGuess && windows.probabilisticMs > 0,
        viewable: mayGuess && windows.viewThroughMs > 0,
      };
    }),
  );
  const since = { clicks: now - windows.probabilisticMs, impressions: now - windows.viewThroughMs };
  const found = await findClicks(env.DB, application.id, sought, since, alongside);
  const placed = new Map<string, string | null>();
  for (const [index, one] of sought.entries()) {
    const { ad } = one;
    if (!placeAd || !ad || installations[index]?.test || found.adItemsOf(one).creative) continue;
    const key = adKey(ad);
    if (!placed.has(key)) placed.set(key, await placeAd(ad, found.adItemsOf(one)));
  }
  const soughtOf = new Map(sought.map((one, index) => [installations[index], one]));
  return (chosen) => {
    /** The clicks that earlier devices in the list take. */
    const taken = new Map<string, number>();
    return chosen.map((installation) => {
      const one = soughtOf.get(installation);
      if (!one) throw new RangeError('the clicks of this installation were not read');
      const rows = found.rowsOf(one);
      const clicks = rows.map((row) => {
        const click = toClick(row, installation.claim);
        const named = taken.get(click.id);
        return named === undefined
          ? click
          : { ...click, credited: true, namedInstalls: click.namedInstalls + named };
      });
      const place = one.ad && !installation.test ? placed.get(adKey(one.ad)) : null;
      const hints = {
        named: one.named,
        creatives: { ...(place ? { [metaReferrer.method]: place } : {}), ...found.creativesOf(one) },
      };
      const outcome = attribute(one.device, hints, clicks, windows, now);
      const matched = {
        ...outcome,
        ...(one.metaAd && outcome.creative_id === null ? { method: metaReferrer.method } : {}),
        ...(one.playReferrer ? { play_referrer: one.playReferrer } : {}),
        ...(one.metaAd ? { meta_ad: one.metaAd } : {}),
      };
      const attribution = installation.test
        ? matched
        : doubtInstall(matched, {
            addressClicks: matched.click_id === null ? null : found.addressClicksOf(one, matched.click_id),
            clickedAt: matched.click_id === null ? null : idTime(matched.click_id),
            acquiredAt: installation.acquiredAt,
            play: one.playReferrer,
            settings: application.fraudRules ?? {},
            sourceDay: sourceDayOf(application.judgedSources ?? null, matched, now),
          });
      const { click_id } = attribution;
      const rule = ruleOf(attribution.method);
      if (click_id !== null && !installation.test) {
        taken.set(click_id, (taken.get(click_id) ?? 0) + (rule?.guesses ? 0 : 1));
      }
      const credited = rows.find(({ id }) => id === click_id);
      const creative = found.creatives.get(attribution.creative_id ?? '');
      const network =
        attribution.creative_id === null
          ? ((one.metaAd ? metaReferrer.network : one.playReferrer?.network) ?? '')
          : toNetwork(installation.report.network) ||
            (rule?.network ?? credited?.network ?? creative?.network ?? '') ||
            networkOfParams(paramsOf(installation.report.install_referrer) ?? {});
      return { attribution, clickCountry: credited?.country ?? null, network };
    });
  };
}
