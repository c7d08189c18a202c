import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import {
  DEVICE_DIMENSIONS,
  type DeviceEvent,
  EVENT_COLUMNS,
  EVENT_EXAMPLES,
  EventEnvelope,
  FUNNEL_STEPS,
  fieldsOf,
  isFunnelStep,
  isOfDevice,
  isSent,
  keysOfEnvelope,
  kindOf,
  LoggedEvent,
  SEGMENT,
  sentKeyOf,
  summarise,
} from '#catalogue';
import { EVENT_KINDS } from '../../src/catalogue/events/index.ts';
import type { EventColumn, EventKind } from '../../src/catalogue/kind.ts';

// What holds for every kind of event there is or will be.

const kinds: readonly EventKind[] = EVENT_KINDS;
const common = { created_at: '2026-03-02 10:00:00', creativeToken: 'token' };
const examples = Object.entries(EVENT_EXAMPLES);

function eventOf(body: object, header?: string): DeviceEvent {
  const envelope = EventEnvelope.parse(body);
  const keys = keysOfEnvelope(header, envelope);
  return {
    id: 'evt_0000000000000000000000000000000a',
    application_id: 'app_1',
    device_id: 'dev_1',
    creative_id: null,
    acquired_day: '2026-03-01',
    day: '2026-03-02',
    occurred_at: 1,
    received_at: 2,
    ...(keys.length > 0 ? { keys } : {}),
    ...fieldsOf(envelope, 1),
  } as DeviceEvent;
}

describe('each kind', () => {
  it.each(kinds.map(({ type }) => type))('%s is described and found by its type', (type) => {
    expect(kindOf({ type }).type).toBe(type);
    expect(kindOf({ type }).description).toMatch(/^[A-Z].*\.$/);
  });

  it.each(kinds.map((kind) => [kind.type, kind] as const))(
    '%s has a column for every field of its own',
    (_, kind) => {
      const { shape } = (kind.stored as unknown as z.ZodLazy<z.ZodObject>).unwrap();
      const own: readonly EventColumn[] = kind.columns;
      // What events tell of their device is a column of all kinds.
      const shared: readonly string[] = DEVICE_DIMENSIONS.map((name) => SEGMENT[name].field);
      expect(EVENT_COLUMNS.map(({ name }) => name)).toEqual(expect.arrayContaining([...shared]));
      // What counters tell each other is in no list of events.
      const hidden = ['counted', ...shared];
      const fields = Object.keys(shape).filter((field) => !COMMON.has(field) && !hidden.includes(field));
      expect(own.map(({ name, field = name }) => field).sort()).toEqual(fields.sort());
    },
  );

  it.each(kinds.filter(({ wires }) => wires.length > 0).map(({ type }) => type))(
    '%s has an example',
    (type) => {
      const shown = examples.map(([, { type: sent, payload }]) =>
        eventOf({ ...common, type: sent, payload }),
      );
      expect(shown.map((event) => event.type)).toContain(type);
    },
  );

  it('has one type per column, even if several kinds share it', () => {
    const types = new Map(EVENT_COLUMNS.map(({ name, type, field }) => [name, { type, field }]));
    for (const { name, type, field } of kinds.flatMap<EventColumn>(({ columns }) => columns)) {
      expect({ type, field }).toEqual(types.get(name));
    }
  });
});

/** What every event has, and what lake files keep in columns of their own making. */
const COMMON = new Set([
  'id',
  'application_id',
  'device_id',
  'shard',
  'creative_id',
  'acquired_day',
  'day',
  'occurred_at',
  'received_at',
  'zone_offset',
  'token_id',
  'token_expired',
  'keys',
  'key_day',
  'test',
  'clock_ahead',
  'device',
  'warnings',
  'type',
  'ad_requests',
]);

describe('an example', () => {
  it.each(examples)(
    '%s is accepted without warnings, stored, and returned in its wire form',
    (_, { type, payload }) => {
      const envelope = EventEnvelope.parse({ ...common, type, payload });
      expect(envelope.warnings).toEqual([]);
      const event = eventOf({ ...common, type, payload });
      expect(LoggedEvent.parse(event)).toEqual(event);
      expect(isOfDevice(event)).toBe(true);
      expect(isSent(event)).toBe(true);
      const again = kindOf(event).toWire?.(event);
      expect(eventOf({ ...common, ...again })).toEqual(event);
    },
  );

  it.each(examples)('%s has a funnel step and a summary line', (_, { type, payload }) => {
    const event = eventOf({ ...common, type, payload });
    const step = kindOf(event).stepOf(event);
    expect(step !== null && isFunnelStep(step)).toBe(true);
    const shown = { ...event, retention_day: 'age' in event ? event.age : undefined };
    expect(summarise(shown, '')).not.toMatch(/^$|undefined/);
  });
});

describe('keys', () => {
  const ids = { event_id: 'one:two', dedupe_key: 'e:three' };

  it.each(examples)('of %s are those that it was sent with', (_, { type, payload }) => {
    const event = eventOf({ ...common, ...ids, type, payload }, 'header');
    expect(sentKeyOf(event, 'event_id')).toBe('one:two');
    expect(sentKeyOf(event, 'dedupe_key')).toBe('e:three');
  });

  const purchase = { ...common, type: 'custom.purchase', event_id: 'one' };
  const payload = { item_id: 'gold', value: 1, currency: 'usd', tr_id: 'two' };

  it('of a purchase depend on its outcome and include its transaction', () => {
    const keysFor = (status: string) => eventOf({ ...purchase, payload: { ...payload, status } }).keys;
    expect(keysFor('completed')).toEqual(['success:e:one', 'success:t:two']);
    expect(keysFor('success')).toEqual(keysFor('completed'));
    expect(keysFor('pending')).toEqual(['failed:e:one', 'failed:t:two']);
  });

  it.each(['refunded', 'refund_reversed'])(
    'of the status %s are only ids of its own: parts may be equal, and of one time',
    (status) => {
      const keysFor = (ids: object) =>
        eventOf({ ...common, ...ids, type: 'custom.purchase', payload: { ...payload, status } }).keys;
      expect(keysFor({})).toBeUndefined();
      expect(keysFor({ dedupe_key: 'two' })).toBeUndefined();
      expect(keysFor({ event_id: 'one', dedupe_key: 'three' })).toEqual([
        expect.stringMatching(/:e:one$/),
        expect.stringMatching(/:d:three$/),
      ]);
    },
  );

  it('are empty if nothing identifies the event', () => {
    expect(
      keysOfEnvelope(undefined, EventEnvelope.parse({ ...common, ...EVENT_EXAMPLES['custom.ad'] })),
    ).toEqual([]);
  });

  it('of a session are one for its start and another for its end', () => {
    const session = (a: string) => {
      const event = eventOf({ ...common, type: 'session', payload: { a, sid: 'x' } });
      return kindOf(event).partKeys?.(event);
    };
    expect(session('start')).toEqual(['s:dev_1:x']);
    expect(session('end')).toEqual(['s:dev_1:x', 'se:dev_1:x']);
    const unnamed = eventOf({ ...common, type: 'session', payload: { a: 'end' } });
    expect(kindOf(unnamed).partKeys?.(unnamed)).toEqual([]);
  });
});

describe('a kind that this version does not know', () => {
  const event = { type: 'custom.of_tomorrow' } as unknown as LoggedEvent;

  it('is assumed to belong to a device, and can be neither counted nor stored', () => {
    expect(isOfDevice(event)).toBe(true);
    expect(() => kindOf(event)).toThrow('There is no kind of event custom.of_tomorrow');
    expect(LoggedEvent.safeParse(event).success).toBe(false);
  });
});

describe('funnel steps', () => {
  it.each([
    ['install', true],
    ['event:level_up', true],
    ['event:', false],
    ['toString', false],
    ['custom', false],
    ['', false],
  ])('%j: %s', (step, isOne) => {
    expect(isFunnelStep(step)).toBe(isOne);
  });

  it('have labels', () => {
    expect(FUNNEL_STEPS).toEqual({
      install: 'Install',
      retention: 'Session',
      purchase: 'Purchase',
      ad: 'Ad impression',
    });
  });
});
