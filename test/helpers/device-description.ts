import { UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import type { DeviceDescription } from '../../src/counting/api.ts';

/** An Android phone without any optional fields. Works in Node and in the Workers runtime. */
export const PIXEL: DeviceDescription = {
  deviceName: 'Pixel',
  deviceModel: 'Pixel 9',
  osSystem: 'Android 16',
  timezone: 'UTC',
  segment: { ...UNKNOWN_SEGMENT, os: 'android' },
  countrySource: null,
  dpi: null,
  windowHeight: null,
  windowWidth: null,
  test: false,
};
