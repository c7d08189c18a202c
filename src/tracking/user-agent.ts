import { isbot } from 'isbot';
import type { OsFamily } from '#attribution';

/** What a browser tells of its device; null for what it keeps to itself. */
export type Browser = { osFamily: OsFamily; osVersion: string | null; deviceModel: string | null };

const IOS = /\((?:iPhone|iPad|iPod)[^)]*? OS (\d+(?:_\d+){0,2})/;
const ANDROID = /Android(?: (\d+(?:\.\d+){0,2}))?(?:; ([^;)]+?))?(?: Build\/[^;)]*)?(?:; [^;)]*)*\)/;
const WINDOWS = /Windows NT/;
const MAC = /Mac OS X/;
const LINUX = /Linux|CrOS/;

// Chrome's reduced user agent claims Android 10 and the model K of every phone.
const REDUCED_MODEL = 'K';

/** Reads a user agent, as far as attribution needs it. */
export function parseUserAgent(userAgent: string): Browser {
  const ios = IOS.exec(userAgent);
  if (ios) {
    return { osFamily: 'ios', osVersion: ios[1]?.replaceAll('_', '.') ?? null, deviceModel: null };
  }
  const android = ANDROID.exec(userAgent);
  if (android) {
    const [, version = null, model = null] = android;
    const reduced = model === REDUCED_MODEL;
    const named = model && !reduced && !/^(?:wv|Mobile|Tablet|[a-z]{2}[-_][A-Za-z]{2}|rv:.*)$/.test(model);
    return {
      osFamily: 'android',
      osVersion: reduced ? null : version,
      deviceModel: named ? model : null,
    };
  }
  const families: [RegExp, OsFamily][] = [
    [WINDOWS, 'windows'],
    [MAC, 'macos'],
    [LINUX, 'linux'],
  ];
  const osFamily = families.find(([words]) => words.test(userAgent))?.[1] ?? 'other';
  return { osFamily, osVersion: null, deviceModel: null };
}

/** Link previews, crawlers and programs: they are sent on, but nobody clicked. */
export function isRobot(userAgent: string): boolean {
  return userAgent.trim() === '' || isbot(userAgent);
}
