import { type Doubt, type DoubtFacts, OS_FAMILIES, type OsFamily } from '#catalogue';
import type { AppleAd, AppleAnswer } from './apple-answer.ts';
import type { NamedClick } from './click-id.ts';
import type { showMetaAd } from './meta-referrer.ts';
import type { PlayReferrer } from './play-referrer.ts';
import { CLOCK_ERROR_MS } from './rules/click-filters.ts';
import { CLICK_FILTERS, MATCH_RULES, ORGANIC } from './rules/list.ts';
import { isSimilar, MAX_EXPLAINED } from './rules/probabilistic.ts';
import {
  type Circumstances,
  type Click,
  type Device,
  isImpressionId,
  type MatchOutcome,
  type Windows,
} from './rules/rule.ts';

// Decides which click led to a device, by the rules in `rules/list.ts`. Pure: the caller reads the clicks and the clock.

export type Hints = {
  /** The clicks that the device named, by the method of the rule that found the name. */
  named: (NamedClick & { method: string })[];
  /** The creatives of this application that the device named, likewise. */
  creatives: Readonly<Partial<Record<string, string>>>;
};

/** A click that a filter refused, in the form that is stored to explain the outcome. */
type RefusedClick = {
  click_id: string;
  creative_id: string;
  clicked_at: number;
  filter: string;
  /** Completes the sentence "The click was not counted because …". */
  reason: string;
};

export type Attribution = MatchOutcome & {
  /** That of the rule which found the creative, or `organic`. */
  method: string;
  /** The parameters of the click that may be passed on, which are kept with the device once its click is not. Absent if it has none, or was not stored yet. */
  click_params?: Readonly<Record<string, string>>;
  /** The clicks that could have mattered but were refused, the newest first. */
  refused_clicks?: RefusedClick[];
  /** What the rules that doubt installs were asked, and the answers. Absent for an organic device. */
  doubt_facts?: DoubtFacts;
  doubts?: Doubt[];
  /** The rules that the facts do not answer. */
  doubts_not_checked?: string[];
  /** What the device would be attributed to if a rule did not exclude it. */
  excluded?: { method: string; creative_id: string | null; click_id: string | null };
  /** What Google Play reported of the install, if anything. */
  play_referrer?: PlayReferrer;
  /** The ad that Meta's install referrer named, also if no creative has its id. */
  meta_ad?: ReturnType<typeof showMetaAd>;
  /** What Apple answered about the device's AdServices token. Absent if it was not to be asked, or as long as it is. */
  apple_ads?: { outcome: AppleAnswer['outcome'] } & Partial<AppleAd>;
  /** What the device was attributed to before Apple attributed it to an ad. */
  replaced?: { method: string; creative_id: string | null; click_id: string | null };
};

export const MAX_REFUSED = 3;

/** The longest window that an application may set for guesses. */
const MAX_WINDOW_MS = 2_160 * 3_600_000;

/** Whether a window can include clicks of this device. It cannot for a device acquired long ago, as in an import. */
export const mayBeGuessed = (acquiredAt: number, now: number): boolean =>
  acquiredAt + CLOCK_ERROR_MS >= now - MAX_WINDOW_MS;

/** What a click's row tells beyond what its id does, while the row is not stored. */
const NOT_STORED = {
  osFamily: 'other',
  osVersion: null,
  deviceModel: null,
  ipHash: null,
  timezone: null,
  screen: null,
  pixelRatio: null,
  country: null,
  network: null,
  credited: false,
  namedInstalls: 0,
} as const satisfies Partial<Click>;

/** A named click. What its id proves comes first; null if neither the id nor a row tells its creative. */
function namedClick({ id, clickedAt, creativeId }: NamedClick, clicks: readonly Click[]): Click | null {
  const stored = clicks.find((click) => click.id === id);
  const clicked = creativeId ?? stored?.creativeId;
  return clicked ? { ...(stored ?? NOT_STORED), id, clickedAt, creativeId: clicked } : null;
}

/** Splits clicks by whether a filter refuses them. */
function judge<Own extends { click: Click }>(
  all: readonly Own[],
  circumstances: Circumstances & { named: boolean },
): { good: Own[]; refused: { click: Click; filter: string; reason: string }[] } {
  const judged = all.map((one) => {
    for (const { id: filter, refuses } of CLICK_FILTERS) {
      const reason = refuses(one.click, circumstances);
      if (reason !== null) return { one, refused: { click: one.click, filter, reason } };
    }
    return { one, refused: null };
  });
  return {
    good: judged.flatMap(({ one, refused }) => (refused ? [] : [one])),
    refused: judged.flatMap(({ refused }) => refused ?? []),
  };
}

/** Asks the rules in their order. `now` is the time of the request. */
export function attribute(
  device: Device,
  hints: Hints,
  clicks: readonly Click[],
  windows: Windows,
  now: number,
): Attribution {
  const circumstances = { device, windows, now };
  const naming = hints.named.flatMap(({ method, ...one }) => {
    const click = namedClick(one, clicks);
    return click ? [{ method, click }] : [];
  });
  const named = judge(naming, { ...circumstances, named: true });
  // A window of 0 turns its method off.
  const possible = clicks.filter(
    ({ id }) => (isImpressionId(id) ? windows.viewThroughMs : windows.probabilisticMs) > 0,
  );
  const others = judge(
    possible.map((click) => ({ click })),
    { ...circumstances, named: false },
  );
  const unnamed = others.good.map(({ click }) => click);
  const one = {
    ...circumstances,
    named: named.good,
    creatives: hints.creatives,
    clicks: unnamed.filter(({ id }) => !isImpressionId(id)),
    impressions: unnamed.filter(({ id }) => isImpressionId(id)),
  };
  let organic: MatchOutcome = {
    confidence: 1,
    creative_id: null,
    click_id: null,
    ambiguous: false,
    earlier_installs: 0,
    candidates: [],
  };
  const similar = () => others.refused.filter(({ click }) => isSimilar(click, device));
  for (const { method, match, guesses } of MATCH_RULES) {
    const outcome = match(one);
    if (outcome !== null && outcome.creative_id !== null) {
      return { ...outcome, method, ...showRefused([...named.refused, ...(guesses ? similar() : [])]) };
    }
    organic = outcome ? mergeOrganic(organic, outcome) : organic;
  }
  return { ...organic, method: ORGANIC, ...showRefused([...named.refused, ...similar()]) };
}

/** Of a device that no rule found a creative for: it is organic as surely as the less certain rule says. */
const mergeOrganic = (left: MatchOutcome, right: MatchOutcome): MatchOutcome => ({
  ...right,
  confidence: Math.min(left.confidence, right.confidence),
  ambiguous: left.ambiguous || right.ambiguous,
  candidates: [...left.candidates, ...right.candidates].slice(0, MAX_EXPLAINED),
});

/** A click that the device named may be there twice: as named, and as similar. The first reason stays. */
function showRefused(refused: ReturnType<typeof judge>['refused']): Pick<Attribution, 'refused_clicks'> {
  const byId = new Map(refused.toReversed().map((one) => [one.click.id, one]));
  if (byId.size === 0) return {};
  const newest = [...byId.values()].sort((left, right) => right.click.clickedAt - left.click.clickedAt);
  return {
    refused_clicks: newest.slice(0, MAX_REFUSED).map(({ click, filter, reason }) => ({
      click_id: click.id,
      creative_id: click.creativeId,
      clicked_at: click.clickedAt,
      filter,
      reason,
    })),
  };
}

/** The OS family in a row or message, or `other`. */
export function toOsFamily(text: string): OsFamily {
  return OS_FAMILIES.find((family) => family === text) ?? 'other';
}
