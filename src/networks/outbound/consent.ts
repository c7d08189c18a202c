import {
  ATT_STATUSES,
  isNotUnderstood,
  limitsTracking,
  NOT_UNDERSTOOD,
  type ToldConsent,
  tightest,
} from '../consent.ts';
import type { OutboundEvent } from '../outbound.ts';

/** What devices send in place of an advertising id that the person does not share. */
const NO_ID = /^[0-]*$/;

const grantOf = (told: string | undefined): boolean | null =>
  told === undefined || told === NOT_UNDERSTOOD ? null : told === 'true';

/**
 * The person's choices: what the event tells of each, else what the device told. `lat: true` lasts: events do not store that it is off again. So
 * does a `lat` that is not understood. `isDeviceLater`: the device told it after the event, so what it refuses holds for the event, too.
 */
export function consentOf(
  event: ToldConsent | undefined,
  device: ToldConsent | undefined,
  isDeviceLater = false,
): OutboundEvent['consent'] {
  const told = isDeviceLater ? tightest(event, device) : { ...device, ...event };
  return {
    limitAdTracking: told.lat === 'true' ? true : null,
    attStatus: ATT_STATUSES.find((status) => status === told.att_status) ?? null,
    adUserData: grantOf(told.ad_user_data),
    ...(told.ad_personalization === 'false' ? { refusesPersonalization: true } : {}),
    ...(isNotUnderstood(told) ? { isWithheld: true } : {}),
  };
}

/** Whether the person does not want to be tracked: see `limitsTracking`. */
export const isTrackingLimited = ({ consent }: OutboundEvent): boolean =>
  consent.isWithheld === true ||
  limitsTracking({
    lat: consent.limitAdTracking ? 'true' : undefined,
    att_status: consent.attStatus ?? undefined,
    ad_personalization: consent.refusesPersonalization ? 'false' : undefined,
  });

/** An event as a destination may know it: without any id of the person if a choice of theirs was not understood. */
export const withoutWithheldIds = (event: OutboundEvent): OutboundEvent =>
  event.consent.isWithheld
    ? {
        ...event,
        ...{ deviceId: null, advertisingId: null, vendorId: null },
        attribution: event.attribution && { ...event.attribution, click: {} },
      }
    : event;

/**
 * The advertising id as networks expect it, in upper case on iOS and else in lower case; null without one, and where tracking is limited,
 * whatever the event carries.
 */
export function advertisingIdOf(event: OutboundEvent): string | null {
  const { advertisingId, os } = event;
  if (advertisingId === null || NO_ID.test(advertisingId) || isTrackingLimited(event)) return null;
  return os === 'ios' ? advertisingId.toUpperCase() : advertisingId.toLowerCase();
}

/** Why a person's event does not go to an ad network; null if it may. */
export function refusalOf({ consent: { adUserData, isWithheld } }: OutboundEvent): string | null {
  if (adUserData === false) {
    return 'The person does not consent to sharing data with ad networks (ad_user_data)';
  }
  return isWithheld ? 'A choice of the person about tracking was not understood, so no id may leave' : null;
}
