import { OS_FAMILIES, type OsFamily } from '#catalogue';
import type { NamedClick } from './click-id.ts';
import {
  type Agreement,
  compareDensities,
  compareExact,
  compareModels,
  compareScreens,
  compareVersions,
  type Size,
} from './evidence.ts';

import type { PlayReferrer } from './play-referrer.ts';

// Decides which click led to a device. Pure: the caller reads the clicks and the clock.

/** What is known about a click. Times are epoch milliseconds. */
export type Click = {
  id: string;
  creativeId: string;
  clickedAt: number;
  osFamily: OsFamily;
  osVersion: string | null;
  deviceModel: string | null;
  ipHash: string | null;
  timezone: string | null;
  screen: Size | null;
  pixelRatio: number | null;
  /** Whether a device was already credited with it. */
  credited: boolean;
  /** The number of devices that named it before. */
  namedInstalls: number;
};

/** A device as `/fetch-token` describes it. */
export type Device = {
  osFamily: OsFamily;
  osVersion: string | null;
  /** Every name of its model. */
  models: string[];
  ipHash: string | null;
  timezone: string | null;
  window: Size | null;
  dpi: number | null;
  acquiredAt: number;
};

export type Hints = {
  /** The clicks that the device named, the most trusted first. */
  named: (NamedClick & { method: 'referrer' | 'click_id' })[];
  /** The creative of this application whose ad Meta's install referrer named. */
  metaCreativeId: string | null;
  /** The creative of this application that a deep link named. */
  deepLinkCreativeId: string | null;
};

export type Windows = { clickMs: number; probabilisticMs: number };

type Fact = 'ip' | 'timezone' | 'os_version' | 'model' | 'screen' | 'density';

/** A click that was weighed, in the form that is stored to explain the outcome. */
type Candidate = {
  click_id: string;
  creative_id: string;
  clicked_at: number;
  /** Bits of evidence: the sum over all facts. */
  score: number;
  /** The probability that this click led to the device, among all candidates and the case that none did. */
  probability: number;
  facts: Partial<Record<Fact, number>>;
};

export type Attribution = {
  method: 'referrer' | 'click_id' | 'meta_referrer' | 'deep_link' | 'probabilistic' | 'organic';
  /** 0 to 1: the probability that the outcome is right; 1 if a click or creative was named. */
  confidence: number;
  creative_id: string | null;
  click_id: string | null;
  /** Whether another click matches the device equally well. */
  ambiguous: boolean;
  /** The number of devices that had named this click before. One click leads to one install, so any is a sign of fraud. */
  earlier_installs: number;
  candidates: Candidate[];
  /** What Google Play reported of the install, if anything. */
  play_referrer?: PlayReferrer;
  /** The ad that Meta's install referrer named, also if no creative has its id. */
  meta_ad?: {
    campaign_id: string;
    campaign: string;
    adset_id: string;
    adset: string;
    ad_id: string;
    ad: string;
  };
};

/**
 * The evidence of each fact, in bits: log2(P(as seen | same phone) / P(as seen | another phone of that family)). The method is record
 * linkage (Fellegi and Sunter, "A Theory for Record Linkage", JASA 1969); the figures are estimates, rounded to half a bit. An address is
 * shared by a household or, at a carrier, by hundreds, and changes between Wi-Fi and mobile data, so a different one says little. Browsers
 * freeze or omit versions and models more often than they get them wrong.
 */
const BITS: Record<Fact, { same: number; close: number; different: number }> = {
  ip: { same: 8, close: 0, different: -1 },
  timezone: { same: 2.5, close: 0, different: -5 },
  os_version: { same: 3, close: 0.5, different: -4 },
  model: { same: 4.5, close: 0, different: -4 },
  screen: { same: 3.5, close: 0, different: -5 },
  density: { same: 1.5, close: 0, different: -2 },
};

/** The evidence that a match has to exceed: the prior that no click led to the device. */
const NO_CLICK_BITS = 8;
/** Below this confidence, a guess would be wrong more often than an install without a creative. */
const MIN_CONFIDENCE = 0.3;
/** A guess is never as certain as a named click. */
const MAX_CONFIDENCE = 0.99;
/** A device's clock may be wrong or in local time. Even so, an old install cannot come from a recent click. */
const CLOCK_ERROR_MS = 24 * 3_600_000;
/** Two clicks of the same phone on the same link within this time are one person trying twice. */
const REPEAT_MS = 30 * 60_000;
/**
 * All clicks from one address together weigh at most as much as three of the best. Someone who clicks hundreds of times from a few
 * addresses thus cannot drown out a genuine match. People behind one shared address remain indistinguishable: their clicks share those
 * three, so each of 50 alike gets three fiftieths. Dropping all but three would make each of those look likely.
 */
const MAX_CLICKS_PER_ADDRESS = 3;
const MAX_EXPLAINED = 5;

/** The longest window that an application may set for guesses. */
const MAX_WINDOW_MS = 2_160 * 3_600_000;

/** Whether a window can include clicks of this device. It cannot for a device acquired long ago, as in an import. */
export const mayBeGuessed = (acquiredAt: number, now: number): boolean =>
  acquiredAt + CLOCK_ERROR_MS >= now - MAX_WINDOW_MS;

/** The first match wins: a named click, a named ad, a named creative, the most likely click, none. `now` is the time of the request. */
export function attribute(
  device: Device,
  hints: Hints,
  clicks: readonly Click[],
  windows: Windows,
  now: number,
): Attribution {
  const named = { confidence: 1, ambiguous: false, earlier_installs: 0, candidates: [] };
  for (const { id, clickedAt, creativeId, method } of hints.named) {
    const click = clicks.find((found) => found.id === id);
    const clicked = creativeId ?? click?.creativeId;
    if (clicked && within({ clickedAt }, windows.clickMs, now)) {
      const earlier_installs = click?.namedInstalls ?? 0;
      return { ...named, method, creative_id: clicked, click_id: id, earlier_installs };
    }
  }
  if (hints.metaCreativeId) {
    return { ...named, method: 'meta_referrer', creative_id: hints.metaCreativeId, click_id: null };
  }
  if (hints.deepLinkCreativeId) {
    return { ...named, method: 'deep_link', creative_id: hints.deepLinkCreativeId, click_id: null };
  }
  return guess(device, clicks, windows, now);
}

/** A window includes its last millisecond. A click in the future comes from another isolate's clock and is accepted. */
function within(click: { clickedAt: number }, windowMs: number, now: number): boolean {
  return now - click.clickedAt <= windowMs;
}

function guess(device: Device, clicks: readonly Click[], windows: Windows, now: number): Attribution {
  const eligible = clicks.filter(
    (click) =>
      windows.probabilisticMs > 0 &&
      within(click, windows.probabilisticMs, now) &&
      click.clickedAt <= device.acquiredAt + CLOCK_ERROR_MS &&
      click.osFamily === device.osFamily &&
      !click.credited,
  );
  const weighed = withoutRepeats(eligible)
    .map((click) => ({ click, ...weigh(click, device) }))
    .sort((left, right) => right.score - left.score);
  const shares = sharesOf(weighed);
  const all = shares.reduce((sum, share) => sum + share, 2 ** NO_CLICK_BITS);
  const candidates = weighed
    .map(({ click, score, facts }, index) => ({
      click_id: click.id,
      creative_id: click.creativeId,
      clicked_at: click.clickedAt,
      score,
      probability: (shares[index] ?? 0) / all,
      facts,
    }))
    // Among equals, the newest: the last click is the one that led to the store.
    .sort((left, right) => right.probability - left.probability || right.clicked_at - left.clicked_at);
  const [best, ...others] = candidates;
  const outcome = {
    ambiguous: best !== undefined && others.some(({ score }) => score >= best.score),
    earlier_installs: 0,
    candidates: candidates.slice(0, MAX_EXPLAINED),
  };
  if (!best || best.probability < MIN_CONFIDENCE) {
    return {
      ...outcome,
      method: 'organic',
      confidence: 2 ** NO_CLICK_BITS / all,
      creative_id: null,
      click_id: null,
    };
  }
  return {
    ...outcome,
    method: 'probabilistic',
    confidence: Math.min(best.probability, MAX_CONFIDENCE),
    creative_id: best.creative_id,
    click_id: best.click_id,
  };
}

/** Each click's share of the total weight, the best first: 2 to the power of its score, less if its address has many clicks. */
function sharesOf(weighed: readonly { click: Click; score: number }[]): number[] {
  const weights = new Map<string, { best: number; all: number }>();
  const addressOf = ({ ipHash, id }: Click) => (ipHash === null ? id : `address ${ipHash}`);
  for (const { click, score } of weighed) {
    const address = weights.get(addressOf(click)) ?? { best: 2 ** score, all: 0 };
    address.all += 2 ** score;
    weights.set(addressOf(click), address);
  }
  return weighed.map(({ click, score }) => {
    const { best, all } = weights.get(addressOf(click)) ?? { best: 0, all: 0 };
    return 2 ** score * Math.min(1, (MAX_CLICKS_PER_ADDRESS * best) / all);
  });
}

function weigh(click: Click, device: Device): { score: number; facts: Candidate['facts'] } {
  const agreements: Record<Fact, Agreement> = {
    ip: compareExact(click.ipHash, device.ipHash),
    timezone: compareExact(click.timezone, device.timezone),
    os_version: compareVersions(click.osVersion, device.osVersion, device.osFamily),
    model: compareModels(click.deviceModel, device.models),
    screen: compareScreens(click.screen, click.pixelRatio, device.window),
    density: compareDensities(click.pixelRatio, device.dpi),
  };
  const facts: Candidate['facts'] = {};
  for (const [fact, agreement] of Object.entries(agreements) as [Fact, Agreement][]) {
    if (agreement) facts[fact] = BITS[fact][agreement];
  }
  const { ip = 0, timezone = 0, os_version = 0, model = 0, screen = 0, density = 0 } = facts;
  // A model has one screen with one density: if both agree they are a single fact, and the stronger one counts.
  const hardware = model > 0 && screen > 0 ? Math.max(model, screen + density) : model + screen + density;
  return { score: ip + timezone + os_version + hardware, facts };
}

/** Keeps the newest of each person's clicks on one creative. Only a known address shows that it is the same person. */
function withoutRepeats(clicks: readonly Click[]): Click[] {
  const newest = new Map<string, Click>();
  const kept: Click[] = [];
  // Sorting by id as well makes the result independent of the order in which simultaneous clicks were read.
  const newestFirst = [...clicks].sort(
    (left, right) => right.clickedAt - left.clickedAt || (left.id < right.id ? 1 : -1),
  );
  for (const click of newestFirst) {
    const { creativeId, ipHash, timezone, osVersion, deviceModel, screen, pixelRatio } = click;
    const person = JSON.stringify([creativeId, ipHash, timezone, osVersion, deviceModel, screen, pixelRatio]);
    const later = newest.get(person);
    if (ipHash && later && later.clickedAt - click.clickedAt <= REPEAT_MS) continue;
    newest.set(person, click);
    kept.push(click);
  }
  return kept;
}

/** The OS family in a row or message, or `other`. */
export function toOsFamily(text: string): OsFamily {
  return OS_FAMILIES.find((family) => family === text) ?? 'other';
}
