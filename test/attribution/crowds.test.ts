import { describe, expect, it } from 'vitest';
import { mayBeGuessed } from '../../src/attribution/match.ts';
import type { Click } from '../../src/attribution/rules/rule.ts';
import { android, androidDevice, HOUR, iphone, iphoneDevice, matchClicks, NOW } from '../helpers/phones.ts';

// Which of several clicks brought a device, and how sure that is.

describe('several clicks', () => {
  const other = (index: number, more: Partial<Click> = {}): Click => ({
    ...iphone,
    id: `clk_${index}`,
    creativeId: `crt_${index}`,
    clickedAt: NOW - HOUR - index,
    ...more,
  });

  it('credits the newer of two equal clicks, with less confidence, and reports the tie', () => {
    const outcome = matchClicks(iphoneDevice, other(2), other(1));
    expect(outcome).toMatchObject({ method: 'probabilistic', click_id: 'clk_1', ambiguous: true });
    expect(outcome.confidence).toBeLessThan(0.5);
    expect(matchClicks(iphoneDevice, other(1)).ambiguous).toBe(false);
  });

  it('credits the same one of two simultaneous clicks, whichever is read first', () => {
    const [left, right] = [other(1, { clickedAt: NOW }), other(2, { clickedAt: NOW })];
    const outcomes = [matchClicks(iphoneDevice, left, right), matchClicks(iphoneDevice, right, left)];
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]).toMatchObject({ method: 'probabilistic', ambiguous: true });
  });

  it('credits nobody among 50 similar phones', () => {
    const outcome = matchClicks(iphoneDevice, ...Array.from({ length: 50 }, (_, index) => other(index)));
    expect(outcome).toMatchObject({ method: 'organic', creative_id: null, ambiguous: true });
    expect(outcome.candidates).toHaveLength(5);
  });

  it('credits the one of 50 similar phones with the same address', () => {
    const phones = Array.from({ length: 50 }, (_, index) => other(index, { ipHash: `address ${index}` }));
    const outcome = matchClicks({ ...iphoneDevice, ipHash: 'address 31' }, ...phones);
    expect(outcome).toMatchObject({ method: 'probabilistic', click_id: 'clk_31', ambiguous: false });
    expect(outcome.confidence).toBeGreaterThan(0.8);
  });

  it('credits nobody among 50 similar phones behind one address', () => {
    const phones = Array.from({ length: 50 }, (_, index) => other(index, { ipHash: 'office' }));
    expect(matchClicks({ ...iphoneDevice, ipHash: 'office' }, ...phones).method).toBe('organic');
  });

  it('is not confident about a stranger among 50 similar phones of a single creative', () => {
    const phones = Array.from({ length: 50 }, (_, index) =>
      other(index, { creativeId: 'crt_1', ipHash: `${index}` }),
    );
    expect(matchClicks({ ...iphoneDevice, ipHash: 'stranger' }, ...phones).method).toBe('organic');
  });

  it('counts a second try by one person as one click', () => {
    const twice = [1, 2].map((index) => other(index, { creativeId: 'crt_1', ipHash: 'home' }));
    const outcome = matchClicks({ ...iphoneDevice, ipHash: 'home' }, ...twice);
    expect(outcome).toMatchObject({ click_id: 'clk_1', ambiguous: false });
    expect(outcome.confidence).toBeGreaterThan(0.95);
    const later = other(3, { creativeId: 'crt_1', ipHash: 'home', clickedAt: NOW - 2 * HOUR });
    expect(matchClicks({ ...iphoneDevice, ipHash: 'home' }, ...twice, later).confidence).toBeLessThan(0.5);
  });

  it.each<[string, Partial<Click>, Partial<Click>]>([
    ['two equal clicks without an address', {}, {}],
    ['one address, two screens', { ipHash: 'home' }, { ipHash: 'home', screen: { width: 852, height: 393 } }],
    ['one address, one of them unmeasured', { ipHash: 'home' }, { ipHash: 'home', timezone: null }],
    ['one address, two creatives', { ipHash: 'home' }, { ipHash: 'home', creativeId: 'crt_2' }],
    ['one address, two models', { ipHash: 'home' }, { ipHash: 'home', deviceModel: 'iPhone' }],
    ['one address, two versions', { ipHash: 'home' }, { ipHash: 'home', osVersion: '17.4.0' }],
    ['one address, two densities', { ipHash: 'home' }, { ipHash: 'home', pixelRatio: 2.9 }],
  ])('treats as two people: %s', (_, first, second) => {
    const [left, right] = [
      other(1, { creativeId: 'crt_1', ...first }),
      other(2, { creativeId: 'crt_1', ...second }),
    ];
    expect(matchClicks({ ...iphoneDevice, ipHash: 'home' }, left, right).candidates).toHaveLength(2);
  });

  it('merges one person’s clicks within half an hour of the newest, then starts over', () => {
    const at = (...minutes: number[]) =>
      matchClicks(
        iphoneDevice,
        ...minutes.map((minute, index) =>
          other(index, { creativeId: 'crt_1', ipHash: 'home', clickedAt: NOW - minute * 60_000 }),
        ),
      ).candidates.map(({ click_id }) => click_id);
    expect(at(1, 31)).toEqual(['clk_0']);
    expect(at(1, 31 + 1 / 60_000)).toEqual(['clk_0', 'clk_1']);
    expect(at(31, 1)).toEqual(['clk_1']);
    expect(at(1, 31, 32, 62, 63)).toEqual(['clk_0', 'clk_2', 'clk_4']);
  });
});

describe('many clicks of few addresses', () => {
  const phone: Click = { ...android, ipHash: 'home', creativeId: 'crt_home', id: 'clk_home' };
  const measured = { timezone: 'Europe/Berlin', screen: { width: 360, height: 780 }, pixelRatio: 3 };
  const flood = (count: number, addresses: number, more: Partial<Click> = measured) =>
    Array.from({ length: count }, (_, index) => ({
      ...android,
      id: `clk_${index}`,
      creativeId: `crt_${index}`,
      clickedAt: NOW - index,
      ipHash: `flood ${index % addresses}`,
      ...more,
    }));
  const device = { ...androidDevice, ipHash: 'home' };

  it('do not make a genuine match organic: 150 from 5', () => {
    const outcome = matchClicks(device, ...flood(150, 5), phone);
    expect(outcome).toMatchObject({ method: 'probabilistic', click_id: 'clk_home', ambiguous: false });
    expect(outcome.confidence).toBeGreaterThan(0.75);
    // From as many addresses as clicks they may be as many people.
    expect(matchClicks(device, ...flood(150, 150), phone).method).toBe('organic');
  });

  it('weigh as much as three of them', () => {
    const likelihood = (count: number) =>
      matchClicks(device, ...flood(count, 1), phone).candidates[0]?.probability ?? 0;
    expect(likelihood(3)).toBeLessThan(likelihood(2));
    expect(likelihood(4)).toBeCloseTo(likelihood(3), 12);
    expect(likelihood(150)).toBeCloseTo(likelihood(3), 12);
  });

  it('are not weighed together if no address is known', () => {
    const likelihood = (count: number) =>
      matchClicks(device, ...flood(count, 1, { ...measured, ipHash: null }), phone).candidates[0]
        ?.probability ?? 0;
    expect(likelihood(30)).toBeLessThan(likelihood(3) * 0.9);
  });

  it('are each less likely than a single click that fits slightly less, but still make it ambiguous', () => {
    const close = { ...android, id: 'clk_close', ipHash: 'alone', timezone: 'Europe/Berlin' };
    const outcome = matchClicks({ ...device, ipHash: null }, ...flood(40, 1), close);
    expect(outcome.candidates.map(({ click_id }) => click_id).indexOf('clk_close')).toBe(0);
    expect(outcome.candidates[1]?.score).toBeGreaterThan(outcome.candidates[0]?.score ?? 0);
    expect(outcome.ambiguous).toBe(true);
  });

  it('do not hide a click from the same address', () => {
    const neighbours = flood(100, 1, { deviceModel: 'Pixel 9', osVersion: '16', ipHash: 'home' });
    const outcome = matchClicks({ ...device, window: null }, ...neighbours, phone);
    expect(outcome).toMatchObject({ method: 'probabilistic', click_id: 'clk_home' });
    expect(outcome.confidence).toBeGreaterThan(0.9);
  });

  it('do not become likely themselves, whether or not the address is the device’s', () => {
    const office = flood(50, 1, { ipHash: 'office' });
    for (const ipHash of ['office', 'mobile', null]) {
      const outcome = matchClicks({ ...device, ipHash }, ...office);
      expect(outcome).toMatchObject({ method: 'organic', ambiguous: true });
      expect(outcome.candidates[0]?.probability).toBeLessThan(0.07);
    }
  });
});

it('allows a device’s clock to be a day behind the click, and no more', () => {
  const click = { ...iphone, clickedAt: NOW - HOUR };
  const outcome = (acquiredAt: number) => matchClicks({ ...iphoneDevice, acquiredAt }, click).method;
  expect(outcome(click.clickedAt - 24 * HOUR)).toBe('probabilistic');
  expect(outcome(click.clickedAt - 24 * HOUR - 1)).toBe('organic');
  // No window is longer than 90 days.
  expect(mayBeGuessed(NOW - 91 * 24 * HOUR, NOW)).toBe(true);
  expect(mayBeGuessed(NOW - 91 * 24 * HOUR - 1, NOW)).toBe(false);
});
