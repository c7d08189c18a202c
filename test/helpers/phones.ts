import { attribute } from '../../src/attribution/match.ts';
import type { Click, Device } from '../../src/attribution/rules/rule.ts';

export const HOUR = 3_600_000;
export const NOW = Date.UTC(2026, 10, 20, 12);
export const WINDOWS = { clickMs: 168 * HOUR, probabilisticMs: 24 * HOUR, viewThroughMs: 24 * HOUR };
export const NO_HINTS = { named: [], creatives: {} };

export const bare: Click = {
  id: 'clk_1',
  creativeId: 'crt_1',
  clickedAt: NOW - HOUR,
  osFamily: 'ios',
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
};
/** What the landing page measures on an iPhone 15. */
export const iphone: Click = {
  ...bare,
  osVersion: '17.4',
  timezone: 'Europe/Berlin',
  screen: { width: 393, height: 852 },
  pixelRatio: 3,
};
/** What a backend sends of the same phone. */
export const iphoneDevice: Device = {
  osFamily: 'ios',
  osVersion: '17.4.1',
  models: ['iPhone15,4', 'iPhone'],
  ipHash: null,
  timezone: 'Europe/Berlin',
  window: { width: 1179, height: 2556 },
  dpi: 460,
  acquiredAt: NOW,
};
export const android: Click = { ...bare, osFamily: 'android', osVersion: '14', deviceModel: 'SM-S911B' };
export const androidDevice: Device = {
  osFamily: 'android',
  osVersion: '14',
  models: ['samsung SM-S911B', 'Galaxy S23'],
  ipHash: null,
  timezone: 'Europe/Berlin',
  window: { width: 1080, height: 2340 },
  dpi: 480,
  acquiredAt: NOW,
};

/** Attributes a device to one of the clicks probabilistically: neither the store nor the backend names any. */
export const matchClicks = (device: Device, ...clicks: Click[]) =>
  attribute(device, NO_HINTS, clicks, WINDOWS, NOW);
