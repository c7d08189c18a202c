// What one fact of a click says about one device. Each compares two readings of the same thing by different instruments: the
// browser that clicked, and the application that was opened later.

/** A rectangle of pixels, in either orientation. */
export type Size = { width: number; height: number };

/** `same` and `different` speak for and against; `close` a little for; null: one of the two is not known, or says nothing. */
export type Agreement = 'same' | 'close' | 'different' | null;

// Safari 26 and later still calls its system 18 (WebKit froze the version in the user agent with release 26).
const FROZEN_IOS = 18;
const FIRST_IOS_AFTER = 26;

/** Versions agree as far as both go: `17.4` and `17.4.1` are the same, `17.4` and `17.5` close, `16` and `17` different. */
export function compareVersions(click: string | null, device: string | null, family: string): Agreement {
  if (!click || !device) return null;
  const [left, right] = [click, device].map((version) => version.split('.').map(Number));
  if (!left || !right) return null;
  const [major = 0, deviceMajor = 0] = [left[0], right[0]];
  if (family === 'ios' && major === FROZEN_IOS && deviceMajor >= FIRST_IOS_AFTER) return null;
  if (major !== deviceMajor) return 'different';
  const shared = Math.min(left.length, right.length);
  return left.slice(0, shared).every((part, index) => part === right[index]) ? 'same' : 'close';
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** `SM-S911B` is the same as `samsung SM-S911B`. Short names are compared whole: `A5` is no `A54`. */
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

/** Browsers round CSS pixels, so 1080 device pixels at 2.625 are 411 or 412: half a pixel of 360. */
const ROUNDING = 0.005;
/** System bars may take this part of a window's side. */
const BARS = 0.15;

const sides = ({ width, height }: Size) => [Math.min(width, height), Math.max(width, height)] as const;

const near = (device: number, screen: number) => Math.abs(device - screen) <= screen * ROUNDING;
const cut = (device: number, screen: number) =>
  device <= screen * (1 + ROUNDING) && device >= screen * (1 - BARS);

/**
 * Whether a device's window can be this screen: measured in CSS pixels by the browser, in CSS or device pixels by the
 * application, held either way, and with system bars off one side.
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

/** The largest number that is a scale factor and not a number of dots per inch. */
const LARGEST_SCALE = 10;

/**
 * Whether a density can belong to a pixel ratio: as a scale (3), as Android's logical density (420 = 160 × 2.625), or as the
 * panel's dots per inch, which lie between 120 and 180 to a CSS pixel on phones and tablets.
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
