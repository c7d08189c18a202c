import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ATT_STATUSES, consentIn, limitsTracking } from '#networks';
import { advertisingIdOf, consentOf, isTrackingLimited } from '#networks/outbound';
import { outboundEvent } from '../destinations/events.ts';

it.each([
  [{}, false],
  [{ lat: 'true' }, true],
  [{ att_status: 'authorized' }, false],
  [{ att_status: 'denied' }, true],
  [{ att_status: 'restricted' }, true],
  [{ att_status: 'not_determined' }, true],
  [{ lat: 'true', att_status: 'authorized' }, true],
])('%o limits tracking: %s', (told, expected) => {
  expect(limitsTracking(told)).toBe(expected);
});

describe("a person's choices", () => {
  it.each([
    [undefined, undefined, { limitAdTracking: null, attStatus: null, adUserData: null }],
    [{ ad_user_data: 'false' }, undefined, { limitAdTracking: null, attStatus: null, adUserData: false }],
    [
      { ad_user_data: 'true' },
      { ad_user_data: 'false' },
      { limitAdTracking: null, attStatus: null, adUserData: true },
    ],
    [
      { att_status: 'denied' },
      { att_status: 'authorized' },
      { limitAdTracking: null, attStatus: 'denied', adUserData: null },
    ],
    [
      undefined,
      { lat: 'true', att_status: 'denied' },
      { limitAdTracking: true, attStatus: 'denied', adUserData: null },
    ],
    [
      { att_status: 'authorized' },
      { lat: 'true' },
      { limitAdTracking: true, attStatus: 'authorized', adUserData: null },
    ],
  ])('are those of the event %o, else of its device %o', (event, device, expected) => {
    expect(consentOf(event, device)).toEqual(expected);
  });

  it('are found among other properties', () => {
    expect(consentIn({ lat: 'true', ...{ app_version: '1' } })).toEqual({ lat: 'true' });
    expect(consentIn({ lat: undefined, ...{ app_version: '1' } })).toBeUndefined();
    expect(consentIn(undefined)).toBeUndefined();
  });
});

describe('an advertising id', () => {
  it.each([
    ['ios', 'abcd-12', 'ABCD-12'],
    ['android', 'ABCD-12', 'abcd-12'],
    [null, 'ABCD-12', 'abcd-12'],
    ['ios', '00000000-0000-0000-0000-000000000000', null],
    ['ios', '', null],
    ['ios', null, null],
  ])('of %s, sent as %s, is %s', (os, advertisingId, expected) => {
    expect(advertisingIdOf(outboundEvent({ os, advertisingId }))).toBe(expected);
  });

  it('is never passed on where tracking is limited', () => {
    const consents = fc.record({
      limitAdTracking: fc.option(fc.boolean()),
      attStatus: fc.option(fc.constantFrom(...ATT_STATUSES)),
      adUserData: fc.option(fc.boolean()),
    });
    fc.assert(
      fc.property(consents, fc.constantFrom('ios', 'android', null), (consent, os) => {
        const event = outboundEvent({ consent, os });
        const isAllowed =
          consent.limitAdTracking !== true &&
          (consent.attStatus === null || consent.attStatus === 'authorized');
        expect(isTrackingLimited(event)).toBe(!isAllowed);
        expect(advertisingIdOf(event) !== null).toBe(isAllowed);
      }),
    );
  });
});
