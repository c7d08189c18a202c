import { describe, expect, it } from 'vitest';
import { parseOs } from '../../src/attribution/device.ts';
import { paramsOf } from '../../src/attribution/device-report.ts';
import {
  compareDensities,
  compareModels,
  compareScreens,
  compareVersions,
} from '../../src/attribution/evidence.ts';

describe('screens', () => {
  const size = ([width, height]: readonly [number, number]) => ({ width, height });
  it.each([
    ['CSS against device pixels', [393, 852], 3, [1179, 2556], 'same'],
    ['CSS against CSS pixels', [393, 852], 3, [393, 852], 'same'],
    ['turned sideways', [852, 393], 3, [1179, 2556], 'same'],
    ['rounded: 1080 / 2.625 is 411.4', [411, 914], 2.625, [1080, 2400], 'same'],
    ['rounded up: 412 × 2.625 is 1081.5', [412, 915], 2.625, [1080, 2400], 'same'],
    ['without the navigation bar', [412, 915], 2.625, [1080, 2211], 'same'],
    ['sideways, without a bar', [1180, 820], 2, [2360, 1592], 'same'],
    ['an iPhone 14 and an iPhone 15', [390, 844], 3, [1179, 2556], 'different'],
    ['half the window', [393, 852], 3, [1179, 1278], 'different'],
    ['both sides cut', [393, 852], 3, [1100, 2300], 'different'],
    ['no ratio known, CSS pixels', [393, 852], null, [393, 852], 'same'],
    ['no ratio known, device pixels', [393, 852], null, [1179, 2556], 'different'],
    ['nothing measured', [0, 0], 3, [1179, 2556], null],
  ] as const)('%s', (_, screen, ratio, window, expected) => {
    expect(compareScreens(size(screen), ratio, size(window))).toBe(expected);
  });

  it('is neutral if one of the two is missing', () => {
    expect(compareScreens(null, 3, size([1, 1]))).toBeNull();
    expect(compareScreens(size([1, 1]), 3, null)).toBeNull();
  });
});

it.each([
  [3, 3, 'same'],
  [2.625, 420, 'same'],
  [3, 460, 'same'],
  [2, 326, 'same'],
  [2, 264, 'same'],
  [3, 2, 'different'],
  [3, 320, 'different'],
  [null, 460, null],
  [3, null, null],
] as const)('density: ratio %s and %s dots are %s', (ratio, dpi, expected) => {
  expect(compareDensities(ratio, dpi)).toBe(expected);
});

it.each([
  ['17.4', '17.4.1', 'ios', 'same'],
  ['17', '17.4.1', 'ios', 'same'],
  ['17.4', '17.5', 'ios', 'close'],
  ['16.4', '17.4', 'ios', 'different'],
  ['18.6', '26.0', 'ios', null],
  ['18.6', '17.0', 'ios', 'different'],
  ['18', '26', 'android', 'different'],
  [null, '17', 'ios', null],
  ['17', null, 'ios', null],
] as const)('versions: %s and %s of %s are %s', (click, device, family, expected) => {
  expect(compareVersions(click, device, family)).toBe(expected);
});

it.each([
  ['SM-S911B', ['samsung SM-S911B'], 'same'],
  ['Pixel 9', ['Google Pixel 9', 'x'], 'same'],
  ['pixel-9', ['Pixel 9'], 'same'],
  ['A5', ['Galaxy A54'], 'different'],
  ['Pixel 9', ['Pixel 9 Pro'], 'different'],
  [null, ['Pixel 9'], null],
  ['Pixel 9', ['', ' '], null],
] as const)('models: %s and %s are %s', (click, device, expected) => {
  expect(compareModels(click, device)).toBe(expected);
});

it.each([
  ['Android OS 16 / API-36 (BP1A)', 'android', '16'],
  ['Android 14', 'android', '14'],
  ['iOS 17.4.1', 'ios', '17.4.1'],
  ['iPadOS 26', 'ios', '26'],
  ['iPhone OS 8.4', 'ios', '8.4'],
  ['Windows 11  (10.0.22631) 64bit', 'windows', '11'],
  ['macOS 15.1', 'macos', '15.1'],
  ['Mac OS X 10.15.7', 'macos', '10.15.7'],
  ['Linux', 'linux', null],
  ['Biosphere 3', 'other', '3'],
  ['18.1', 'other', '18.1'],
])('reads "%s" as %s %s', (text, family, version) => {
  expect(parseOs(text)).toEqual({ family, version });
});

it.each([
  ['18.1', 'iOS', 'iPhone', 'ios', '18.1'],
  ['18.1', 'Jane', 'iPhone15,4', 'ios', '18.1'],
  [' v18.1', 'Jane', 'iPad Pro', 'ios', '18.1'],
  ['14', 'Android', 'SM-S911B', 'android', '14'],
  ['14', 'Galaxy', 'SM-S911B', 'other', '14'],
  ['Android 14', 'iPhone', 'iPhone', 'android', '14'],
  ['Darwin 24.1', 'iOS', 'iPhone', 'ios', null],
  ['', 'iOS', 'iPhone', 'ios', null],
  ['18.1', 'macOS', 'iPhone', 'macos', '18.1'],
] as const)('reads "%s" of the device %s, model %s, as %s %s', (system, name, model, family, version) => {
  expect(parseOs(system, name, model)).toEqual({ family, version });
});

it.each([
  ['click_id=clk_1', 'clk_1'],
  ['click_id%3Dclk_1%26utm_source%3Dad', 'clk_1'],
  ['utm_source=ad&click_id=clk_1', 'clk_1'],
  ['click_id%253Dclk_1', 'clk_1'],
  ['utm_source=google-play&utm_medium=organic', null],
  ['%', null],
  ['', null],
  [undefined, null],
])('finds the click in the referrer %s', (referrer, id) => {
  expect(paramsOf(referrer)?.click_id ?? null).toBe(id);
});
