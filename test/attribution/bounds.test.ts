import { describe, expect, it } from 'vitest';
import { sourceDayOf } from '../../src/attribution/doubt-install.ts';
import { attribute, type Hints, mayBeGuessed } from '../../src/attribution/match.ts';
import type { Click } from '../../src/attribution/rules/rule.ts';
import { DOUBT_RULES } from '../../src/catalogue/doubts/list.ts';
import type { DoubtFacts } from '../../src/catalogue/doubts/rule.ts';
import { type Bound, testBounds } from '../helpers/bounds.ts';
import { HOUR, iphone, iphoneDevice, NOW } from '../helpers/phones.ts';

/** Three lengths, so that none stands in for another. */
const WINDOWS = { clickMs: 168 * HOUR, probabilisticMs: 24 * HOUR, viewThroughMs: 6 * HOUR };
const DAY = 24 * HOUR;
const device = { ...iphoneDevice, ipHash: 'home' };
const near = { ...iphone, ipHash: 'home' };
const impression = { ...near, id: 'imp_1' };

const naming = (method: string, { id, clickedAt, creativeId }: Click): Hints => ({
  named: [{ method, id, clickedAt, creativeId }],
  creatives: {},
});

const NONE: Hints = { named: [], creatives: {} };

function methodOf(clicks: readonly Click[], hints = NONE, acquiredAt = NOW, windows = WINDOWS) {
  const { method, refused_clicks } = attribute({ ...device, acquiredAt }, hints, clicks, windows, NOW);
  return [method, ...(refused_clicks ?? []).map(({ filter }) => filter)];
}

const namedAt =
  (method: string) =>
  (clickedAt: number): string[] => {
    const click = { ...iphone, osFamily: 'other' as const, clickedAt };
    return methodOf([click], naming(method, click));
  };

const guessedAt = (clickedAt: number) => methodOf([{ ...near, clickedAt }]);
const seenAt = (clickedAt: number) => methodOf([{ ...impression, clickedAt }]);

testBounds('windows of attribution', [
  ...['referrer', 'click_id'].flatMap((method): Bound[] => [
    {
      name: `a click that ${method} names, as old as the window`,
      ...{ at: NOW - WINDOWS.clickMs, ask: namedAt(method) },
      below: ['organic', 'outside_window'],
      ...{ exact: [method], above: [method] },
    },
    // Another isolate's clock may be ahead.
    {
      name: `${method}, now`,
      at: NOW,
      ask: namedAt(method),
      below: [method],
      exact: [method],
      above: [method],
    },
  ]),
  {
    name: 'a click like the device, as old as the window',
    ...{ at: NOW - WINDOWS.probabilisticMs, ask: guessedAt },
    below: ['organic', 'outside_window'],
    ...{ exact: ['probabilistic'], above: ['probabilistic'] },
  },
  {
    name: 'a click like the device, now',
    ...{ at: NOW, ask: guessedAt },
    ...{ below: ['probabilistic'], exact: ['probabilistic'], above: ['probabilistic'] },
  },
  {
    name: 'an impression, as old as the window',
    ...{ at: NOW - WINDOWS.viewThroughMs, ask: seenAt },
    below: ['organic', 'outside_window'],
    ...{ exact: ['view_through'], above: ['view_through'] },
  },
  {
    name: 'a click a day after the device was first opened, by its own clock',
    ...{ at: NOW - HOUR - DAY, ask: (acquiredAt: number) => methodOf([near], NONE, acquiredAt) },
    below: ['organic', 'after_install'],
    ...{ exact: ['probabilistic'], above: ['probabilistic'] },
  },
  {
    name: 'a window of guesses of 0',
    at: 0,
    ask: (probabilisticMs: number) =>
      methodOf([{ ...near, clickedAt: NOW }], NONE, NOW, { ...WINDOWS, probabilisticMs }),
    ...{ below: ['organic'], exact: ['organic'], above: ['probabilistic'] },
  },
  {
    name: 'a window of impressions of 0',
    at: 0,
    ask: (viewThroughMs: number) =>
      methodOf([{ ...impression, clickedAt: NOW }], NONE, NOW, { ...WINDOWS, viewThroughMs }),
    ...{ below: ['organic'], exact: ['organic'], above: ['view_through'] },
  },
  {
    name: 'a device whose acquisition no window reaches',
    ...{ at: NOW - 2_160 * HOUR - DAY, ask: (acquiredAt: number) => mayBeGuessed(acquiredAt, NOW) },
    ...{ below: false, exact: true, above: true },
  },
  {
    name: 'two clicks of one person within 30 minutes are one',
    at: 30 * 60_000,
    ask: (apart: number) => {
      const first = { ...near, id: 'clk_0', clickedAt: near.clickedAt - apart };
      return attribute(device, NONE, [first, near], WINDOWS, NOW).ambiguous;
    },
    ...{ below: false, exact: false, above: true },
  },
  {
    name: 'the judged day of a source, three days old',
    at: NOW,
    ask: (now: number) => {
      const facts = {
        ...{ day: '', clicks: 1, installs: 1 },
        usual_conversion: 1,
        median_seconds: 1,
        p95_seconds: 1,
      };
      const judged = { day: new Date(NOW - 3 * DAY).toISOString(), creatives: { crt_1: facts } };
      return sourceDayOf(judged, attribute(device, NONE, [near], WINDOWS, NOW), now) === facts;
    },
    ...{ below: true, exact: false, above: false },
  },
]);

const FACTS: DoubtFacts = {
  clicked_at: NOW,
  first_opened_at: NOW + DAY,
  play_clicked_at: NOW,
  play_install_began_at: NOW + HOUR,
  earlier_installs: 0,
  address_clicks: 1,
  source_day: null,
};
/** `undefined`: not checked. */
const doubts = (id: string, changes: Partial<DoubtFacts>, threshold = 0): boolean | undefined => {
  const reason = DOUBT_RULES.find((rule) => rule.id === id)?.check({ ...FACTS, ...changes }, threshold);
  return reason === undefined ? undefined : reason !== null;
};
const SOURCE = {
  ...{ day: '2026-11-19', clicks: 100_000, installs: 200, usual_conversion: 0.01 },
  ...{ median_seconds: 90_000, p95_seconds: 180_000 },
};

testBounds('doubts', [
  {
    name: 'a click as the installation begins',
    ...{ at: NOW, step: 1_000 },
    ask: (began: number) => doubts('click_after_install_began', { play_install_began_at: began }),
    ...{ below: true, exact: false, above: false },
  },
  {
    name: 'the click that Play saw, as the installation begins',
    ...{ at: NOW + HOUR, step: 1_000 },
    ask: (clicked: number) => doubts('click_after_install_began', { play_clicked_at: clicked }),
    ...{ below: false, exact: false, above: true },
  },
  {
    name: 'first opened as the click came',
    at: NOW,
    ask: (opened: number) => doubts('fast_install', { first_opened_at: opened }, 10),
    ...{ below: undefined, exact: true, above: true },
  },
  {
    name: 'first opened ten seconds after the click',
    at: NOW + 10_000,
    ask: (opened: number) => doubts('fast_install', { first_opened_at: opened }, 10),
    ...{ below: true, exact: false, above: false },
  },
  {
    name: 'installs of one click',
    at: 2,
    ask: (earlier: number) => doubts('repeated_click', { earlier_installs: earlier }, 2),
    ...{ below: false, exact: true, above: true },
  },
  {
    name: 'clicks of one address',
    at: 50,
    ask: (clicks: number) => doubts('busy_address', { address_clicks: clicks }, 50),
    ...{ below: false, exact: true, above: true },
  },
  ...[-1, 1].map(
    (side): Bound => ({
      name: `Play saw a click ${side < 0 ? 'before' : 'after'} the credited one`,
      ...{ at: 300_000, step: 1_000 },
      ask: (apart) => doubts('different_click', { play_clicked_at: NOW + side * apart }, 300),
      ...{ below: false, exact: false, above: true },
    }),
  ),
  {
    name: 'conversion of a fifth of the usual',
    at: 200,
    ask: (installs: number) => doubts('click_flooding', { source_day: { ...SOURCE, installs } }, 20),
    ...{ below: true, exact: true, above: false },
  },
  {
    name: 'a median of a day',
    at: 86_400,
    ask: (median: number) =>
      doubts('click_flooding', { source_day: { ...SOURCE, median_seconds: median } }, 20),
    ...{ below: false, exact: true, above: true },
  },
  {
    name: 'a spread of three medians',
    at: 270_000,
    ask: (p95: number) => doubts('click_flooding', { source_day: { ...SOURCE, p95_seconds: p95 } }, 20),
    ...{ below: true, exact: true, above: false },
  },
]);

describe('oldest and newest of equals', () => {
  const clicks = [3, 1, 2].map((minutes) => ({
    ...near,
    id: `clk_${minutes}`,
    creativeId: `crt_${minutes}`,
    clickedAt: NOW - minutes * 60_000,
  }));
  const orders = [clicks, clicks.toReversed(), clicks.toSorted((a, b) => a.clickedAt - b.clickedAt)];

  it.each(orders.map((order) => [order.map(({ id }) => id).join(' '), order] as const))(
    'credits the last of clicks that look alike: %s',
    (_, order) => {
      const { click_id, candidates, ambiguous } = attribute(device, NONE, order, WINDOWS, NOW);
      expect(click_id).toBe('clk_1');
      expect(ambiguous).toBe(true);
      expect(candidates.map(({ click_id: id }) => id)).toEqual(['clk_1', 'clk_2', 'clk_3']);
    },
  );

  // The same evidence, but of two addresses and thus of two persons.
  it('credits the last of two persons who are equally likely', () => {
    const away = { ...device, ipHash: null };
    const [late, early] = [
      { ...clicks[1], ipHash: 'a' },
      { ...clicks[0], ipHash: 'b' },
    ] as [Click, Click];
    for (const order of [
      [late, early],
      [early, late],
    ]) {
      expect(attribute(away, NONE, order, WINDOWS, NOW).click_id).toBe('clk_1');
    }
  });

  it('credits the last of impressions at one address', () => {
    const seen = clicks.map((click) => ({ ...click, id: click.id.replace('clk', 'imp') }));
    for (const order of [seen, seen.toReversed()]) {
      expect(attribute(device, NONE, order, WINDOWS, NOW)).toMatchObject({
        method: 'view_through',
        click_id: 'imp_1',
      });
    }
  });
});

describe('an impression against a click of the same likeness', () => {
  const bareDevice = { ...device, osVersion: null, models: [], timezone: null, window: null, dpi: null };
  /** How much a fact of the device agrees, from nothing but the address on. */
  const FACTS_KNOWN: [string, Partial<Click>, Partial<typeof device>, string, string][] = [
    ['the address alone', {}, {}, 'probabilistic', 'organic'],
    [
      'the address and the time zone',
      { timezone: 'Europe/Berlin' },
      { timezone: 'Europe/Berlin' },
      'probabilistic',
      'view_through',
    ],
    [
      'the address, another time zone',
      { timezone: 'Europe/Paris' },
      { timezone: 'Europe/Berlin' },
      'organic',
      'organic',
    ],
  ];
  const blank: Click = {
    ...near,
    ...{ osVersion: null, deviceModel: null, timezone: null, screen: null, pixelRatio: null },
  };

  it.each(FACTS_KNOWN)('%s', (_, ofClick, ofDevice, byClick, byImpression) => {
    const own = { ...bareDevice, ...ofDevice };
    const click = { ...blank, ...ofClick };
    expect(attribute(own, NONE, [click], WINDOWS, NOW).method).toBe(byClick);
    const shown = attribute(own, NONE, [{ ...click, id: 'imp_1' }], WINDOWS, NOW);
    expect(shown.method).toBe(byImpression);
    // A click is never weaker than an impression that is as old and as alike.
    const both = attribute(own, NONE, [{ ...click, id: 'imp_1' }, click], WINDOWS, NOW);
    if (byClick === 'probabilistic') expect(both.click_id).toBe(click.id);
  });

  it('is a quarter as likely to lead to an install', () => {
    const byClick = attribute(device, NONE, [near], WINDOWS, NOW);
    const byImpression = attribute(device, NONE, [impression], WINDOWS, NOW);
    const odds = (probability = Number.NaN) => probability / (1 - probability);
    const [click, shown] = [byClick.candidates[0], byImpression.candidates[0]];
    expect(odds(click?.probability) / odds(shown?.probability)).toBeCloseTo(4, 6);
  });
});
