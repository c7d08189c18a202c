import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Attribution, attribute, type Hints } from '../../src/attribution/match.ts';
import type { Click, Device } from '../../src/attribution/rules/rule.ts';
import {
  android,
  androidDevice,
  bare,
  HOUR,
  iphone,
  iphoneDevice,
  matchClicks,
  NO_HINTS,
  NOW,
  WINDOWS,
} from '../helpers/phones.ts';

const naming = ({ id, clickedAt }: Click, method: 'referrer' | 'click_id') => ({
  id,
  clickedAt,
  creativeId: null,
  method,
});

type Grade = 'high' | 'medium' | 'low' | 'organic';
const grade = ({ method, confidence }: Attribution): Grade => {
  if (method === 'organic') return 'organic';
  return confidence >= 0.9 ? 'high' : confidence >= 0.6 ? 'medium' : 'low';
};

/** Realistic pairs: what was measured at the click, what the device reports, and how sure that makes. */
const PAIRS: [string, Partial<Click> | null, Partial<Device>, Grade, number][] = [
  ['iPhone, same address', { ...iphone, ipHash: 'a' }, { ipHash: 'a' }, 'high', 0.99],
  ['iPhone, no address known', iphone, {}, 'medium', 0.85],
  ['iPhone, from Wi-Fi to mobile data', { ...iphone, ipHash: 'a' }, { ipHash: 'b' }, 'medium', 0.74],
  ['iPhone, window held sideways', iphone, { window: { width: 2556, height: 1179 } }, 'medium', 0.85],
  ['iPhone, window in CSS pixels', iphone, { window: { width: 393, height: 852 }, dpi: 3 }, 'medium', 0.85],
  ['iPhone, window below the system bars', iphone, { window: { width: 393, height: 759 } }, 'medium', 0.85],
  [
    'iPhone, minimal metrics, no version',
    iphone,
    { window: null, dpi: null, osVersion: null },
    'organic',
    0.98,
  ],
  ['iPhone, minimal metrics', iphone, { window: null, dpi: null }, 'organic', 0.85],
  [
    'iPhone, minimal metrics, same address',
    { ...iphone, ipHash: 'a' },
    { window: null, dpi: null, ipHash: 'a' },
    'high',
    0.98,
  ],
  ['iPhone, updated from 17.4 to 17.5', iphone, { osVersion: '17.5' }, 'low', 0.5],
  ['iPhone, other release', iphone, { osVersion: '18.1' }, 'organic', 0.96],
  ['iPhone whose browser froze at 18', { ...iphone, osVersion: '18.6' }, { osVersion: '26.1' }, 'low', 0.41],
  ['iPhone abroad', iphone, { timezone: 'America/New_York' }, 'organic', 0.97],
  ['iPhone 15 against iPhone 14', iphone, { window: { width: 1170, height: 2532 } }, 'organic', 0.98],
  [
    'iPad that claims to be a Mac, recognised by touch',
    { ...iphone, osVersion: null, screen: { width: 820, height: 1180 }, pixelRatio: 2 },
    { osVersion: '17.4', window: { width: 2360, height: 1640 }, dpi: 264 },
    'low',
    0.41,
  ],
  ['Android, model and version', android, {}, 'low', 0.41],
  ['Android, model, version, same address', { ...android, ipHash: 'a' }, { ipHash: 'a' }, 'high', 0.99],
  [
    'Android, reduced user agent, same address',
    { ...android, osVersion: null, deviceModel: null, ipHash: 'a' },
    { ipHash: 'a' },
    'low',
    0.5,
  ],
  [
    'Android, reduced user agent, nothing else',
    { ...android, osVersion: null, deviceModel: null },
    {},
    'organic',
    1,
  ],
  [
    'Android, other model, same address',
    { ...android, ipHash: 'a' },
    { ipHash: 'a', models: ['Pixel 9'] },
    'low',
    0.33,
  ],
  [
    'Android, measured on a page',
    { ...android, timezone: 'Europe/Berlin', screen: { width: 360, height: 780 }, pixelRatio: 3 },
    {},
    'medium',
    0.85,
  ],
  ['another family', { ...android, ipHash: 'a' }, { osFamily: 'ios', ipHash: 'a' }, 'organic', 1],
  ['no click at all', null, {}, 'organic', 1],
];

describe('one click', () => {
  it.each(PAIRS)('%s', (_, click, changes, expected, confidence) => {
    const base = click?.osFamily === 'android' ? androidDevice : iphoneDevice;
    const outcome = matchClicks({ ...base, ...changes }, ...(click ? [{ ...bare, ...click }] : []));
    expect([grade(outcome), Math.round(outcome.confidence * 100) / 100]).toEqual([expected, confidence]);
    expect(outcome.creative_id).toBe(expected === 'organic' ? null : 'crt_1');
  });
});

it.each([
  ['model alone', null, null, 4.5],
  ['model and screen', { width: 360, height: 780 }, null, 4.5],
  ['model, screen and density', { width: 360, height: 780 }, 3, 5],
  ['model against another screen', { width: 390, height: 844 }, null, -0.5],
  ['model against another screen and density', { width: 390, height: 844 }, 1, -2.5],
] as const)('counts %s as one fact if they agree', (_, screen, pixelRatio, bits) => {
  const click = { ...android, osVersion: null, screen, pixelRatio };
  expect(
    matchClicks({ ...androidDevice, window: { width: 360, height: 780 } }, click).candidates[0]?.score,
  ).toBe(bits);
});

describe('windows', () => {
  it.each([
    ['the last millisecond', 24 * HOUR, 'probabilistic'],
    ['a millisecond later', 24 * HOUR + 1, 'organic'],
    ['this moment', 0, 'probabilistic'],
  ])('matches probabilistically at %s', (_, age, method) => {
    expect(matchClicks(iphoneDevice, { ...iphone, clickedAt: NOW - age }).method).toBe(method);
  });

  it.each([
    ['the last millisecond', 168 * HOUR, 'referrer'],
    ['a millisecond later', 168 * HOUR + 1, 'organic'],
    ['a clock that is ahead', -5_000, 'referrer'],
  ])('accepts a named click at %s', (_, age, method) => {
    const click = { ...iphone, clickedAt: NOW - age };
    const hints = { named: [naming(click, 'referrer')], creatives: {} };
    const outcome = attribute({ ...iphoneDevice, timezone: 'Asia/Tokyo' }, hints, [click], WINDOWS, NOW);
    expect(outcome.method).toBe(method);
  });

  it('makes no probabilistic match if the application has switched it off', () => {
    const windows = { ...WINDOWS, probabilisticMs: 0 };
    const click = { ...iphone, clickedAt: NOW };
    expect(attribute(iphoneDevice, NO_HINTS, [click], windows, NOW).method).toBe('organic');
  });

  it('does not credit today’s click with last month’s install, but tolerates a wrong clock', () => {
    expect(matchClicks({ ...iphoneDevice, acquiredAt: NOW - 30 * 24 * HOUR }, iphone).method).toBe('organic');
    expect(matchClicks({ ...iphoneDevice, acquiredAt: NOW - 12 * HOUR }, iphone).method).toBe(
      'probabilistic',
    );
  });
});

describe('order of methods', () => {
  const hints: Hints = {
    named: [naming({ ...bare, id: 'clk_gone' }, 'referrer'), naming(bare, 'click_id')],
    creatives: { deep_link: 'crt_deep' },
  };
  it('uses the first named click that exists, then the deep link, then the probabilistic match', () => {
    const other = { ...iphone, id: 'clk_2', creativeId: 'crt_2' };
    const of = (...input: [Hints, Click[]]) => attribute(iphoneDevice, ...input, WINDOWS, NOW);
    expect(of(hints, [other, iphone])).toMatchObject({
      method: 'click_id',
      creative_id: 'crt_1',
      confidence: 1,
    });
    expect(of(hints, [other])).toMatchObject({
      method: 'deep_link',
      creative_id: 'crt_deep',
      click_id: null,
    });
    expect(of({ ...hints, creatives: {} }, [other])).toMatchObject({
      method: 'probabilistic',
      click_id: 'clk_2',
    });
  });

  it('accepts a signed click id inside the window before the click itself has arrived', () => {
    const proven = { id: 'clk_9', creativeId: 'crt_9', method: 'referrer' as const };
    const at = (clickedAt: number) =>
      attribute(iphoneDevice, { ...NO_HINTS, named: [{ ...proven, clickedAt }] }, [], WINDOWS, NOW);
    expect(at(NOW - 168 * HOUR)).toMatchObject({
      method: 'referrer',
      creative_id: 'crt_9',
      click_id: 'clk_9',
    });
    expect(at(NOW - 168 * HOUR - 1)).toMatchObject({ method: 'organic' });
  });

  it('reports how many devices named this click before', () => {
    const namedBy = (namedInstalls: number) => [
      { ...bare, namedInstalls },
      { ...iphone, id: 'clk_2', namedInstalls: 9 },
    ];
    const of = (clicks: Click[]) => attribute(iphoneDevice, hints, clicks, WINDOWS, NOW);
    expect(of(namedBy(0)).earlier_installs).toBe(0);
    expect(of(namedBy(7)).earlier_installs).toBe(7);
    expect(of([{ ...iphone, id: 'clk_2', namedInstalls: 9 }])).toMatchObject({
      method: 'deep_link',
      earlier_installs: 0,
    });
  });

  it('credits a named click again, but never matches it to a second device probabilistically', () => {
    const credited = { ...iphone, credited: true };
    expect(matchClicks(iphoneDevice, credited).method).toBe('organic');
    expect(attribute(iphoneDevice, hints, [credited], WINDOWS, NOW).method).toBe('click_id');
  });
});

describe('clicks that are not counted', () => {
  const DAY = 24 * HOUR;
  const refused = (outcome: Attribution) =>
    outcome.refused_clicks?.map(({ click_id, filter, reason }) => [click_id, filter, reason]);
  const home = { ...iphone, ipHash: 'home' };
  const device = { ...iphoneDevice, ipHash: 'home' };
  it.each([
    ['taken', { credited: true }, {}, ['clk_1', 'credited', 'another device was already credited with it']],
    [
      'of another system',
      { osFamily: 'macos' as const },
      {},
      ['clk_1', 'other_system', 'it came from another operating system'],
    ],
    [
      'later than the install',
      {},
      { acquiredAt: NOW - HOUR - DAY - 1 },
      ['clk_1', 'after_install', 'the app was first opened more than a day earlier'],
    ],
    [
      'older than the window',
      { clickedAt: NOW - DAY - 1 },
      {},
      ['clk_1', 'outside_window', 'it is older than the probabilistic window of 24 hours'],
    ],
  ])('are explained if they are %s', (_, click, more, trace) => {
    const outcome = matchClicks({ ...device, ...more }, { ...home, ...click });
    expect([outcome.method, refused(outcome)]).toEqual(['organic', [trace]]);
  });

  it('are explained if the device named them, whatever they look like', () => {
    const old = naming({ ...bare, clickedAt: NOW - 7 * DAY - 1 }, 'click_id');
    const outcome = attribute(iphoneDevice, { ...NO_HINTS, named: [old] }, [bare], WINDOWS, NOW);
    expect([outcome.method, refused(outcome)]).toEqual([
      'organic',
      [['clk_1', 'outside_window', 'it is older than the attribution window of 168 hours']],
    ]);
  });

  it('are not mentioned if they could not have mattered', () => {
    const stranger = { ...bare, osFamily: 'android' as const, osVersion: '14' };
    expect(matchClicks(device, stranger)).not.toHaveProperty('refused_clicks');
    const certain = { ...NO_HINTS, named: [naming(home, 'click_id')] };
    const outcome = attribute(
      device,
      certain,
      [home, { ...home, id: 'clk_2', credited: true }],
      WINDOWS,
      NOW,
    );
    expect(outcome).not.toHaveProperty('refused_clicks');
  });

  it('are at most three, the newest first', () => {
    const taken = [1, 2, 3, 4].map((at) => ({
      ...home,
      id: `clk_${at}`,
      clickedAt: NOW - at,
      credited: true,
    }));
    expect(refused(matchClicks(device, ...taken.toReversed()))?.map(([id]) => id)).toEqual([
      'clk_1',
      'clk_2',
      'clk_3',
    ]);
  });
});

it('always leaves some probability that there was no click', () => {
  const some = <Value>(...values: Value[]) => fc.constantFrom<Value | null>(null, ...values);
  const clicks = fc.array(
    fc.record<Click>({
      id: fc.uuid(),
      creativeId: fc.constantFrom('a', 'b', 'c'),
      clickedAt: fc.integer({ min: NOW - 30 * HOUR, max: NOW }),
      osFamily: fc.constantFrom('ios', 'android'),
      osVersion: some('17.4', '18.6'),
      deviceModel: some('SM-S911B'),
      ipHash: some('x', 'y'),
      timezone: some('Europe/Berlin', 'UTC'),
      screen: some({ width: 393, height: 852 }, { width: 0, height: 0 }),
      pixelRatio: some(3, 2),
      country: fc.constant(null),
      network: fc.constant(null),
      credited: fc.boolean(),
      namedInstalls: fc.nat(3),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(clicks, some('x', 'y'), (found, ipHash) => {
      const outcome = matchClicks({ ...iphoneDevice, ipHash }, ...found);
      const total = outcome.candidates.reduce((sum, { probability }) => sum + probability, 0);
      expect(total).toBeLessThan(1);
      expect(outcome.confidence).toBeGreaterThan(0);
      expect(outcome.confidence).toBeLessThanOrEqual(1);
      const credited = found.find(({ id }) => id === outcome.click_id);
      expect(credited?.creativeId ?? null).toBe(outcome.creative_id);
      expect(credited?.credited ?? false).toBe(false);
      // The order in which the database returns clicks must not matter.
      expect(matchClicks({ ...iphoneDevice, ipHash }, ...found.toReversed()).creative_id).toBe(
        outcome.creative_id,
      );
    }),
  );
});
