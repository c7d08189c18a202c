import type { DeviceDescription } from '../../src/counting/api.ts';

/** An Android phone without any optional fields. Works in Node and in the Workers runtime. */
export const PIXEL: DeviceDescription = {
  deviceName: 'Pixel',
  deviceModel: 'Pixel 9',
  osSystem: 'Android 16',
  timezone: 'UTC',
  country: null,
  countrySource: null,
  os: 'android',
  appVersion: null,
  dpi: null,
  windowHeight: null,
  windowWidth: null,
  test: false,
};
