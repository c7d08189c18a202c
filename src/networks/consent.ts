// What a person chose about being tracked, as events and devices carry it: text, because that is how they store what their senders say.

/** Apple's App Tracking Transparency. */
export const ATT_STATUSES = ['authorized', 'denied', 'not_determined', 'restricted'] as const;
export type AttStatus = (typeof ATT_STATUSES)[number];

/** Stored of a choice that was sent and not understood. Every id of the person is then withheld. */
export const NOT_UNDERSTOOD = 'unknown';

const wordsOf = (value: unknown): string | null =>
  typeof value === 'string' ? value.trim().toLowerCase() : typeof value === 'number' ? String(value) : null;

const isAbsent = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

const YES_OR_NO: Readonly<Record<string, boolean>> = {
  ...{ true: true, 1: true, yes: true, y: true, on: true },
  ...{ false: false, 0: false, no: false, n: false, off: false },
};
/** Google's consent mode. */
const GRANTED_OR_DENIED: Readonly<Record<string, boolean>> = {
  ...YES_OR_NO,
  ...{ granted: true, denied: false },
};

/** The answer to a question; undefined for none, null if it is not understood. */
function readAnswer(value: unknown, answers: Readonly<Record<string, boolean>>): boolean | null | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value === 'boolean') return value;
  const words = wordsOf(value);
  return words !== null && Object.hasOwn(answers, words) ? (answers[words] ?? null) : null;
}

/** Reads `lat`. */
export const readLimit = (value: unknown) => readAnswer(value, YES_OR_NO);

/** Reads `ad_user_data` and `ad_personalization`. */
export const readGrant = (value: unknown) => readAnswer(value, GRANTED_OR_DENIED);

/** Source: developer.apple.com/documentation/apptrackingtransparency, the numbers and names of the status, and what wrappers make of them. */
const ATT_NAMES: Readonly<Record<string, AttStatus>> = {
  0: 'not_determined',
  1: 'restricted',
  2: 'denied',
  3: 'authorized',
  notdetermined: 'not_determined',
  undetermined: 'not_determined',
  restricted: 'restricted',
  denied: 'denied',
  authorized: 'authorized',
  authorised: 'authorized',
  granted: 'authorized',
};
const ATT_PREFIX = /^(?:attrackingmanager)?(?:authorizationstatus|trackingstatus|attstatus)?/;

/** Reads `att_status`; undefined for nothing, null if it is not understood. */
export function readAttStatus(value: unknown): AttStatus | null | undefined {
  if (isAbsent(value)) return undefined;
  const words = wordsOf(value) ?? '';
  // A sign or a point of a number is no separator.
  const name = /\d/.test(words) ? words : words.replaceAll(/[\s._-]/g, '').replace(ATT_PREFIX, '');
  return Object.hasOwn(ATT_NAMES, name) ? (ATT_NAMES[name] ?? null) : null;
}

const NAMES = ['lat', 'att_status', 'ad_user_data', 'ad_personalization'] as const;
/** What a sender said of the person's choices. */
export type ToldConsent = { [Name in (typeof NAMES)[number]]?: string | undefined };

/** Whether a choice was sent and not understood. */
export const isNotUnderstood = (told: ToldConsent): boolean =>
  NAMES.some((name) => told[name] === NOT_UNDERSTOOD);

/**
 * Whether the person does not want to be tracked: by the device's own setting, in Apple's dialog, or by refusing personalized ads. Not having been
 * asked counts as that, as Apple says, and so does a choice that is not understood.
 */
export const limitsTracking = (told: ToldConsent): boolean =>
  told.lat === 'true' ||
  (told.att_status !== undefined && told.att_status !== 'authorized') ||
  told.ad_personalization === 'false' ||
  isNotUnderstood(told);

/** That alone; undefined for nothing. */
export function consentIn(told: ToldConsent | undefined): ToldConsent | undefined {
  const entries = NAMES.flatMap((name) => (told?.[name] === undefined ? [] : [[name, told[name]]]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

const PERMISSIONS: Readonly<Record<(typeof NAMES)[number], string | undefined>> = {
  lat: undefined,
  att_status: 'authorized',
  ad_user_data: 'true',
  ad_personalization: 'true',
};

/** `after`, but what it permits does not replace what `before` refuses. */
export function tightest(before: ToldConsent | undefined, after: ToldConsent | undefined): ToldConsent {
  const told: ToldConsent = { ...before };
  for (const name of NAMES) {
    const said = after?.[name];
    const isRefused = before?.[name] !== undefined && before[name] !== PERMISSIONS[name];
    // A choice that was not understood withholds more than one that was.
    const isUnknown = before?.[name] === NOT_UNDERSTOOD;
    if (said !== undefined && !isUnknown && (said !== PERMISSIONS[name] || !isRefused)) told[name] = said;
  }
  return told;
}
