import { isbot } from 'isbot';
import { FIRST_IOS_AFTER_FROZEN, FROZEN_IOS } from '#attribution';
import type { OsFamily } from '#catalogue';
import { memoize } from '#lib/collections/memoize';

/** What a browser reveals about its device; null for anything that it hides. */
type BrowserDevice = { osFamily: OsFamily; osVersion: string | null; deviceModel: string | null };

/** `isRobot`: link previews, crawlers and programs. They are redirected, but not counted as clicks. */
export type Browser = BrowserDevice & { isRobot: boolean };

/** Real user agents have about 300 characters at most. Longer headers are cut, which bounds the work. */
const MAX_USER_AGENT_CHARS = 512;
/** The longest model that a click's row stores; longer text is not a model. */
const MAX_MODEL_CHARS = 128;

// Each pattern is matched once from a fixed position and is unambiguous, so matching takes linear time.
const IOS_DEVICE = /\((?:iPhone|iPad|iPod)/;
const IOS_VERSION = / OS (\d{1,4}(?:_\d{1,4}){0,2})/;
/** Safari's own version, which is that of iOS. Other browsers have none. */
const SAFARI_VERSION = / Version\/(\d{1,4}(?:\.\d{1,4}){0,2}) /;
const ANDROID_VERSION = /^Android (\d{1,4}(?:\.\d{1,4}){0,2})/;
/** What may appear in place of a model: a web view, a form factor, a language, Firefox's engine. */
const NOT_A_MODEL = /^(?:wv|Mobile|Tablet|[a-z]{2}[-_][A-Za-z]{2}|rv:.*)$/;

// Chrome's reduced user agent reports Android 10 and the model K for every phone.
const REDUCED_MODEL = 'K';

const OTHER_FAMILIES: readonly [RegExp, OsFamily][] = [
  [/Windows NT/, 'windows'],
  [/Mac OS X/, 'macos'],
  [/Linux|CrOS/, 'linux'],
];

/** The rest of the parenthesis that a place in a user agent lies in. */
function restOfComment(userAgent: string, start: number): string {
  const end = userAgent.indexOf(')', start);
  return userAgent.slice(start, end < 0 ? undefined : end);
}

const MAX_REMEMBERED = 1_000;

/** Remembered, because many clicks share a user agent and the pattern that recognizes robots is long. */
const parse = memoize(
  MAX_REMEMBERED,
  (userAgent: string): Browser => ({
    ...readDevice(userAgent),
    isRobot: userAgent.trim() === '' || isbot(userAgent),
  }),
);

/** Parses what attribution needs from the first 512 characters of a user agent. */
export const readUserAgent = (header: string): Browser => parse(header.slice(0, MAX_USER_AGENT_CHARS));

const majorOf = (version: string | null): number => Number.parseInt(version ?? '', 10);

function readDevice(userAgent: string): BrowserDevice {
  const ios = userAgent.search(IOS_DEVICE);
  if (ios >= 0) {
    const [, reported = null] = IOS_VERSION.exec(restOfComment(userAgent, ios)) ?? [];
    const [, safari = ''] = SAFARI_VERSION.exec(userAgent) ?? [];
    const version = reported?.replaceAll('_', '.') ?? null;
    const isFrozen = majorOf(version) === FROZEN_IOS && majorOf(safari) >= FIRST_IOS_AFTER_FROZEN;
    return { osFamily: 'ios', osVersion: isFrozen ? safari : version, deviceModel: null };
  }
  const android = userAgent.indexOf('Android');
  if (android >= 0) return parseAndroid(restOfComment(userAgent, android));
  const osFamily = OTHER_FAMILIES.find(([words]) => words.test(userAgent))?.[1] ?? 'other';
  return { osFamily, osVersion: null, deviceModel: null };
}

/** `Android 14; SM-S911B Build/UP1A; wv` */
function parseAndroid(comment: string): BrowserDevice {
  const [system = '', described = ''] = comment.split(';');
  const [, version = null] = ANDROID_VERSION.exec(system) ?? [];
  const model = described.split(' Build/', 1).join().trim();
  const reduced = model === REDUCED_MODEL;
  const isModel = model !== '' && model.length <= MAX_MODEL_CHARS && !reduced && !NOT_A_MODEL.test(model);
  return {
    osFamily: 'android',
    osVersion: reduced ? null : version,
    deviceModel: isModel ? model : null,
  };
}
