import { describe, expect, it } from 'vitest';
import { devicePropertiesOf, EventEnvelope } from '#catalogue';
import { DeviceMetrics } from '#devices';
import { NOT_UNDERSTOOD } from '#networks';
import {
  advertisingIdOf,
  consentOf,
  isTrackingLimited,
  refusalOf,
  withoutWithheldIds,
} from '#networks/outbound';
import privacy from '../../docs/privacy.md?raw';
import { outboundEvent } from '../destinations/events.ts';
import { deviceMetrics, envelope } from '../helpers/envelopes.ts';

// The table in docs/privacy.md is the input: each value of each field, as an event and as a device's message tell it.

const FIELDS = ['lat', 'att_status', 'ad_user_data', 'ad_personalization'] as const;
type Field = (typeof FIELDS)[number];
const isField = (name: string | undefined): name is Field => FIELDS.some((field) => field === name);

const codesIn = (cell: string | undefined) =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

const CASES = privacy
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, field]) => isField(codesIn(field)[0]))
  .flatMap(([, field, values, stored, leaves]) =>
    codesIn(field)
      .filter(isField)
      .flatMap((name) =>
        codesIn(values).map((value) => ({ name, value, stored: codesIn(stored)[0], leaves: leaves ?? '' })),
      ),
  );

const told = (text: string): unknown => JSON.parse(text);
const ID = 'abcd-12';

it('reads the table', () => {
  expect(new Set(CASES.map(({ name }) => name))).toEqual(new Set(FIELDS));
  expect(CASES.length).toBeGreaterThan(60);
});

describe.each(CASES)('$name: $value', ({ name, value, stored, leaves }) => {
  const sent = { [name]: told(value), advertising_id: ID, vendor_id: 'vendor' };
  const event = EventEnvelope.parse(envelope.purchase('token', sent, {}));
  const device = DeviceMetrics.parse(deviceMetrics({}, sent));
  const isUnknown = stored === NOT_UNDERSTOOD;
  const warning = { path: name, message: expect.stringMatching(/; every id is withheld from destinations$/) };

  it('is stored as the table says, with a warning if it is not understood', () => {
    for (const { [name]: kept, warnings } of [event, device]) {
      expect(kept).toBe(stored);
      expect(warnings).toEqual(isUnknown ? [warning] : []);
    }
  });

  it('lets leave what the table says', () => {
    const properties = devicePropertiesOf(event);
    const limited = leaves !== 'all' && leaves !== 'nothing to ad networks';
    expect(properties.advertising_id).toBe(limited ? undefined : ID);
    for (const consent of [
      consentOf({ [name]: stored }, undefined),
      consentOf(undefined, { [name]: stored }),
    ]) {
      const outbound = withoutWithheldIds(
        outboundEvent({ os: 'android', advertisingId: ID, vendorId: 'vendor', consent }),
      );
      expect(isTrackingLimited(outbound)).toBe(limited);
      expect(advertisingIdOf(outbound)).toBe(limited ? null : ID);
      expect(outbound.deviceId === null).toBe(isUnknown);
      expect(refusalOf(outbound) !== null).toBe(isUnknown || leaves === 'nothing to ad networks');
    }
  });
});

it.each([null, '', '  ', undefined])('%o is no answer', (value) => {
  const event = EventEnvelope.parse(
    envelope.purchase('token', Object.fromEntries(FIELDS.map((name) => [name, value])), {}),
  );
  for (const name of FIELDS) expect(event[name]).toBeUndefined();
  expect(event.warnings).toEqual([]);
});
