import {
  type Agreement,
  compareDensities,
  compareExact,
  compareModels,
  compareScreens,
  compareVersions,
} from '../evidence.ts';
import type { Candidate, Click, Device, Fact, MatchOutcome, MatchRule } from './rule.ts';

// The most likely of the clicks that look like the device. No name is needed, so it is a guess.

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
export const NO_CLICK_BITS = 8;
/** Below this confidence, a guess would be wrong more often than an install without a creative. */
const MIN_CONFIDENCE = 0.3;
/** A guess is never as certain as a named click. */
const MAX_CONFIDENCE = 0.99;
/** Two clicks of the same phone on the same link within this time are one person trying twice. */
const REPEAT_MS = 30 * 60_000;
/**
 * All clicks from one address together weigh at most as much as three of the best. Someone who clicks hundreds of times from a few
 * addresses thus cannot drown out a genuine match. People behind one shared address remain indistinguishable: their clicks share those
 * three, so each of 50 alike gets three fiftieths. Dropping all but three would make each of those look likely.
 */
const MAX_CLICKS_PER_ADDRESS = 3;
export const MAX_EXPLAINED = 5;

/** Whether a click is so similar to a device that it could be credited if it were the only one. */
export const isSimilar = (click: Click, device: Device): boolean =>
  weigh(click, device).score >= NO_CLICK_BITS;

/** Picks the most likely of some clicks. `noneBits` is the evidence that it has to exceed. */
export function guess(device: Device, clicks: readonly Click[], noneBits: number): MatchOutcome {
  const weighed = clicks
    .map((click) => ({ click, ...weigh(click, device) }))
    .sort((left, right) => right.score - left.score);
  const shares = sharesOf(weighed);
  const all = shares.reduce((sum, share) => sum + share, 2 ** noneBits);
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
  const isMatch = best !== undefined && best.probability >= MIN_CONFIDENCE;
  return {
    confidence: isMatch ? Math.min(best.probability, MAX_CONFIDENCE) : 2 ** noneBits / all,
    creative_id: isMatch ? best.creative_id : null,
    click_id: isMatch ? best.click_id : null,
    ambiguous: best !== undefined && others.some(({ score }) => score >= best.score),
    earlier_installs: 0,
    candidates: candidates.slice(0, MAX_EXPLAINED),
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

/** What shows that two clicks are of one person: a known address, and everything that was measured. */
const personOf = ({ ipHash, timezone, osVersion, deviceModel, screen, pixelRatio }: Click) =>
  JSON.stringify([ipHash, timezone, osVersion, deviceModel, screen, pixelRatio]);

// Sorting by id as well makes the result independent of the order in which simultaneous clicks were read.
const newestFirst = (clicks: readonly Click[]) =>
  [...clicks].sort((left, right) => right.clickedAt - left.clickedAt || (left.id < right.id ? 1 : -1));

/** Keeps the newest of each person's clicks on one creative. Only a known address shows that it is the same person. */
function withoutRepeats(clicks: readonly Click[]): Click[] {
  const newest = new Map<string, Click>();
  const kept: Click[] = [];
  for (const click of newestFirst(clicks)) {
    const person = `${click.creativeId} ${personOf(click)}`;
    const later = newest.get(person);
    if (click.ipHash && later && later.clickedAt - click.clickedAt <= REPEAT_MS) continue;
    newest.set(person, click);
    kept.push(click);
  }
  return kept;
}

/** The newest of what each person clicked or saw, of whichever creative. */
export const newestOfPersons = (clicks: readonly Click[]): Click[] => [
  ...new Map(
    newestFirst(clicks)
      .toReversed()
      .map((click) => [personOf(click), click]),
  ).values(),
];

export const probabilistic: MatchRule = {
  method: 'probabilistic',
  label: 'Probabilistic match',
  reason: 'No click was named; one was similar enough to this device.',
  guesses: true,
  match: ({ device, clicks }) => guess(device, withoutRepeats(clicks), NO_CLICK_BITS),
};
