import type { DeviceDescription } from '../../src/counting/api.ts';

/** An Android phone of which nothing optional is known. For Node and the Workers runtime alike. */
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
