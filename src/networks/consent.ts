// What a person chose about being tracked, as events and devices carry it: text, because that is how they store what their senders say.

/** Apple's App Tracking Transparency. */
export const ATT_STATUSES = ['authorized', 'denied', 'not_determined', 'restricted'] as const;
export type AttStatus = (typeof ATT_STATUSES)[number];

/** Whether the person does not want to be tracked, by the device's own setting or in Apple's dialog. Not having been asked counts as that, as Apple says. */
export const limitsTracking = (told: {
  lat?: string | undefined;
  att_status?: string | undefined;
}): boolean => told.lat === 'true' || (told.att_status !== undefined && told.att_status !== 'authorized');

const NAMES = ['lat', 'att_status', 'ad_user_data'] as const;
/** What a sender said of the person's choices. */
export type ToldConsent = { [Name in (typeof NAMES)[number]]?: string | undefined };

/** That alone; undefined for nothing. */
export function consentIn(told: ToldConsent | undefined): ToldConsent | undefined {
  const entries = NAMES.flatMap((name) => (told?.[name] === undefined ? [] : [[name, told[name]]]));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
