import fc from 'fast-check';
import type { StoredEvent } from '../../src/lake/index.ts';

// Events as the schema lets them be, likely or not.

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
/** Any UTF-16 code units, lone surrogates included. */
const units = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), minLength: 1 });
const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  units,
  fc.constantFrom('null', '{}', '\uFEFFa', '\0', '$client_event_id', '$tr_id', '__proto__', 'é😀'),
);
const anyText = fc.oneof(text, fc.constant(''));
const id = (prefix: string) =>
  fc.oneof({ weight: 5, arbitrary: hex(32).map((digits) => `${prefix}_${digits}`) }, text);
const day = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.integer({ min: 0, max: 30_000 }).map((n) => new Date(n * 864e5).toISOString().slice(0, 10)),
  },
  fc.constantFrom('2026-02-30', '0000-00-00', '9999-99-99', '0001-01-01', '9999-12-31'),
);
const instant = fc.oneof(fc.integer({ min: 0, max: 2e12 }), fc.maxSafeInteger());
const natural = fc.oneof(fc.nat(1_000), fc.maxSafeNat());
/** JSON, which carried it here, has no negative zero. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
const uuid = fc.uuid();
const record = fc.dictionary(anyText, anyText, { maxKeys: 4 });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const truth = fc.constantFrom(true as const, undefined);

const key = fc.oneof(
  text,
  uuid.map((value) => `e:${value}`),
  uuid.map((value) => `success:e:${value}`),
  text.map((value) => `success:t:${value}`),
  fc.constantFrom(
    'e:',
    'success:e:',
    'e:$client_event_id',
    'success:e:$client_event_id',
    't:$tr_id',
    'success:t:T',
    'success:d:T',
    ':',
  ),
);

const identity = {
  id: hex(32).map((digits) => `evt_${digits}`),
  application_id: fc.constant('app_1'),
  day,
  occurred_at: instant,
  received_at: fc.integer({ min: 0, max: 2e12 }),
  outcome: fc.constantFrom('duplicate' as const, 'ignored' as const, 'parked' as const, undefined),
  reason: maybe(text),
  duplicate_of: maybe(hex(32).map((digits) => `evt_${digits}`)),
};
const common = {
  ...identity,
  device_id: id('dev'),
  creative_id: fc.option(id('crt')),
  acquired_day: day,
  token_expired: truth,
  keys: maybe(fc.array(key, { maxLength: 8 })),
  key_day: maybe(fc.maxSafeInteger()),
  test: truth,
  clock_ahead: truth,
  device: maybe(
    fc.oneof(
      record,
      fc.record(
        {
          device_name: anyText,
          device_model: anyText,
          os_system: anyText,
          app_version: anyText,
          sdk: anyText,
        },
        { requiredKeys: [] },
      ),
    ),
  ),
  warnings: maybe(fc.array(fc.record({ path: anyText, message: anyText }), { maxLength: 3 })),
};

const kinds = [
  fc.record({
    ...common,
    type: fc.constant('install' as const),
    attribution_method: maybe(text),
    attribution_confidence: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
  }),
  fc.record({
    ...common,
    type: fc.constant('retention' as const),
    session_id: maybe(text),
    session_seconds: maybe(natural),
    session_end: truth,
    age: natural,
    backfill_day: maybe(natural),
  }),
  fc.record({
    ...common,
    type: fc.constant('custom.purchase' as const),
    item_id: text,
    item_name: maybe(text),
    value_nanos: natural,
    currency: anyText,
    status: fc.constantFrom('completed' as const, 'success' as const, 'failed' as const, 'refunded' as const),
    tr_id: maybe(fc.oneof(text, fc.constant('T'))),
    total_purchase_value: maybe(number),
  }),
  fc.record({
    ...common,
    type: fc.constant('custom.ad' as const),
    ad_id: text,
    name: maybe(text),
    source: text,
    media_source: maybe(text),
    channel: maybe(text),
    watch_time: maybe(number),
    reward: maybe(fc.boolean()),
    value_nanos: natural,
    currency: anyText,
    total_ad_value: maybe(number),
  }),
  fc.record({
    ...common,
    type: fc.constant('custom' as const),
    event_name: text,
    params: maybe(record),
    ad_requests: maybe(fc.record({ count: natural, placement: anyText, source: anyText })),
  }),
  fc.record({
    ...identity,
    type: fc.constant('click' as const),
    creative_id: id('crt'),
    country: maybe(text),
    params: maybe(record),
  }),
];

/** Absent fields are left out, as in JSON. */
export const arbitraryEvent: fc.Arbitrary<StoredEvent> = fc
  .oneof(...kinds)
  .map(
    (event) =>
      Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined)) as StoredEvent,
  );
