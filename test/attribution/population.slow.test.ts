import { expect, it } from 'vitest';
import { attribute } from '../../src/attribution/match.ts';
import type { Click, Device } from '../../src/attribution/rules/rule.ts';

// Many phones of one city click on as many creatives and one of them, or a stranger, installs. What a confidence says must
// hold: of those above 0.9 nearly all are right. The figures of the match are estimates, so this checks them as a whole.

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 20, 12);
const WINDOWS = { clickMs: 168 * HOUR, probabilisticMs: 24 * HOUR, viewThroughMs: 0 };

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SCREENS = [
  { width: 393, height: 852, ratio: 3, dpi: 460 },
  { width: 390, height: 844, ratio: 3, dpi: 460 },
  { width: 430, height: 932, ratio: 3, dpi: 460 },
  { width: 375, height: 667, ratio: 2, dpi: 326 },
  { width: 414, height: 896, ratio: 2, dpi: 326 },
];
const VERSIONS = ['17.4', '17.5', '17.6', '16.7', '18.1'];
const ZONES = ['Europe/Berlin', 'Europe/Berlin', 'Europe/Berlin', 'Europe/London', 'Europe/Istanbul'];

/** `likeness`: the share of all phones that look the same. */
function simulate(seed: number, phones: number, likeness: number, sameAddress: number) {
  const random = seeded(seed);
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * (random() < likeness ? 1 : values.length))] as Value;
  const phone = (index: number) => ({
    screen: pick(SCREENS),
    version: pick(VERSIONS),
    zone: pick(ZONES),
    // Some share an address, as behind a carrier's translation.
    address: random() < 0.3 ? `carrier ${Math.floor(random() * 4)}` : `home ${index}`,
    index,
  });
  const all = Array.from({ length: phones }, (_, index) => phone(index));
  const clicks: Click[] = all.map(({ screen, version, zone, address, index }) => ({
    id: `clk_${index}`,
    creativeId: `crt_${index}`,
    clickedAt: NOW - Math.floor(random() * 20 * HOUR),
    osFamily: 'ios',
    osVersion: version,
    deviceModel: null,
    ipHash: address,
    timezone: zone,
    screen: { width: screen.width, height: screen.height },
    pixelRatio: screen.ratio,
    country: null,
    network: null,
    credited: false,
    namedInstalls: 0,
  }));
  const stranger = random() < 0.2;
  const who = stranger ? phone(phones) : (all[Math.floor(random() * phones)] ?? phone(phones));
  const { screen, version, zone, address, index } = who;
  const device: Device = {
    osFamily: 'ios',
    osVersion: version,
    models: ['iPhone'],
    ipHash: random() < sameAddress ? address : `mobile ${index}`,
    timezone: zone,
    window: { width: screen.width * screen.ratio, height: screen.height * screen.ratio },
    dpi: screen.dpi,
    acquiredAt: NOW,
  };
  const outcome = attribute(device, { named: [], creatives: {} }, clicks, WINDOWS, NOW);
  return { ...outcome, right: outcome.creative_id === (stranger ? null : `crt_${index}`) };
}

it.each([
  ['50 phones that are all alike, on the same network as before', 50, 1, 1],
  ['50 phones that are all alike, most with another address', 50, 1, 0.2],
  ['50 phones of all kinds', 50, 0, 0.6],
  ['3 phones of all kinds', 3, 0, 0.6],
  ['500 phones, many alike', 500, 0.5, 0.6],
])('is rarely wrong when it is confident: %s', (_, phones, likeness, sameAddress) => {
  const outcomes = Array.from({ length: 2_000 }, (_, seed) => simulate(seed, phones, likeness, sameAddress));
  const guessed = outcomes.filter(({ method }) => method === 'probabilistic');
  const sure = guessed.filter(({ confidence }) => confidence >= 0.9);
  const wrong = (some: typeof outcomes) =>
    some.filter(({ right }) => !right).length / Math.max(1, some.length);
  expect(guessed.length).toBeGreaterThan(100);
  expect(wrong(sure)).toBeLessThan(0.03);
  expect(wrong(guessed)).toBeLessThan(0.3);
});
