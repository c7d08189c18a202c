import { ATT_STATUSES, limitsTracking, type ToldConsent } from '../consent.ts';
import type { OutboundEvent } from '../outbound.ts';

/** What devices send in place of an advertising id that the person does not share. */
const NO_ID = /^[0-]*$/;

/**
 * The person's choices: what the event tells of each, else what the device told at its acquisition. `lat: true` lasts: events do not store that it
 * is off again.
 */
export function consentOf(
  event: ToldConsent | undefined,
  device: ToldConsent | undefined,
): OutboundEvent['consent'] {
  const told = { ...device, ...event };
  return {
    limitAdTracking: told.lat === 'true' ? true : null,
    attStatus: ATT_STATUSES.find((status) => status === told.att_status) ?? null,
    adUserData: told.ad_user_data === undefined ? null : told.ad_user_data === 'true',
  };
}

/** Whether the person does not want to be tracked: see `limitsTracking`. */
export const isTrackingLimited = ({ consent: { limitAdTracking, attStatus } }: OutboundEvent): boolean =>
  limitsTracking({ lat: limitAdTracking ? 'true' : undefined, att_status: attStatus ?? undefined });

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
export const refusalOf = ({ consent: { adUserData } }: OutboundEvent): string | null =>
  adUserData === false ? 'The person does not consent to sharing data with ad networks (ad_user_data)' : null;
