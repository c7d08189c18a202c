// What one fact of a click says about one device. Each function compares two readings of the same property by different instruments: the
// browser that clicked, and the application that was opened later.

/** A rectangle of pixels, in either orientation. */
export type Size = { width: number; height: number };

/** `same` speaks for a match, `close` weakly for it, `different` against it; null if a reading is unknown or says nothing. */
export type Agreement = 'same' | 'close' | 'different' | null;

// Since release 26, browsers report iOS 18 for the system (WebKit froze the version in the user agent). Only Safari tells its own version.
export const FROZEN_IOS = 18;
export const FIRST_IOS_AFTER_FROZEN = 26;

/** Compares versions as far as both go: `17.4` and `17.4.1` are the same, `17.4` and `17.5` close, `16` and `17` different. */
export function compareVersions(click: string | null, device: string | null, family: string): Agreement {
  if (!click || !device) return null;
  const [left, right] = [click, device].map((version) => version.split('.').map(Number));
  if (!left || !right) return null;
  const [major = 0, deviceMajor = 0] = [left[0], right[0]];
  if (family === 'ios' && major === FROZEN_IOS && deviceMajor >= FIRST_IOS_AFTER_FROZEN) return null;
  if (major !== deviceMajor) return 'different';
  const shared = Math.min(left.length, right.length);
  return left.slice(0, shared).every((part, index) => part === right[index]) ? 'same' : 'close';
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** `SM-S911B` is the same as `samsung SM-S911B`. Short names are compared whole: `A5` is not `A54`. */
export function compareModels(click: string | null, device: readonly string[]): Agreement {
  const clicked = plain(click ?? '');
  const names = device.map(plain).filter((name) => name !== '');
  if (clicked === '' || names.length === 0) return null;
  const matches = names.some(
    (name) =>
      name === clicked ||
      (clicked.length >= 5 && name.endsWith(clicked)) ||
      (name.length >= 5 && clicked.endsWith(name)),
  );
  return matches ? 'same' : 'different';
}

/** Browsers round CSS pixels: 1080 device pixels at a ratio of 2.625 become 411 or 412. This allows half a pixel in 360. */
const ROUNDING = 0.005;
/** System bars may take up this share of a window's side. */
const MAX_BARS_SHARE = 0.15;

const sides = ({ width, height }: Size) => [Math.min(width, height), Math.max(width, height)] as const;

const near = (device: number, screen: number) => Math.abs(device - screen) <= screen * ROUNDING;
const cut = (device: number, screen: number) =>
  device <= screen * (1 + ROUNDING) && device >= screen * (1 - MAX_BARS_SHARE);

/**
 * Whether a device's window can be this screen. The browser measures in CSS pixels, the application in CSS or device pixels, in either
 * orientation and possibly without the system bars of one side.
 */
export function compareScreens(
  screen: Size | null,
  pixelRatio: number | null,
  window: Size | null,
): Agreement {
  if (!screen || !window || Math.min(...sides(screen), ...sides(window)) <= 0) return null;
  const [short, long] = sides(window);
  const fits = (scale: number) => {
    const [screenShort, screenLong] = sides(screen).map((side) => side * scale) as [number, number];
    return (
      (near(short, screenShort) && cut(long, screenLong)) ||
      (near(long, screenLong) && cut(short, screenShort))
    );
  };
  return [1, pixelRatio ?? 1].some(fits) ? 'same' : 'different';
}

/** The largest number that is a scale factor rather than dots per inch. */
const LARGEST_SCALE = 10;

/**
 * Whether a density fits a pixel ratio: as a scale (3), as Android's logical density (420 = 160 × 2.625), or as the panel's dots per
 * inch, which are 120 to 180 per CSS pixel on phones and tablets.
 */
export function compareDensities(pixelRatio: number | null, dpi: number | null): Agreement {
  if (!pixelRatio || !dpi) return null;
  if (dpi <= LARGEST_SCALE) return Math.abs(dpi - pixelRatio) <= 0.05 * pixelRatio ? 'same' : 'different';
  const perCssPixel = dpi / pixelRatio;
  return perCssPixel >= 120 && perCssPixel <= 180 ? 'same' : 'different';
}

export function compareExact(click: string | null, device: string | null): Agreement {
  if (!click || !device) return null;
  return click === device ? 'same' : 'different';
}
