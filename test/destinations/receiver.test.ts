import { describe, expect, it } from 'vitest';
import { fromNanos } from '#lib/money';
import type { DestinationSetup, OutboundEvent } from '#networks/outbound';
import { KIND_NAMES, kindOf } from '../../src/destinations/kinds.ts';
import { postback } from '../../src/destinations/postback.ts';
import { outboundEvent, requestOf } from './events.ts';

// Values that are not round, decoded as a receiver decodes them.

/** All of ASCII that can be seen, and what URLs, forms, JSON and HTML escape; each in the middle of a name and at its ends. */
const ASCII = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index)).join('');
const NAMES = [
  "it's (50%) off!*",
  "'!()*",
  `"${'\\'}/<b>&amp;`,
  'Straße – жук – 漢字 – 👩‍👩‍👧',
  '+ %20 %2B = & ; # ?',
  `x${ASCII}x`,
];

/** Nanos, and what is sent of them in units and in micros. */
const AMOUNTS: [bigint, string, string][] = [
  [1n, '0.000000001', '0'],
  [499n, '0.000000499', '0'],
  [500n, '0.0000005', '1'],
  [1_499n, '0.000001499', '1'],
  [1_500n, '0.0000015', '2'],
  [123_456_789n, '0.123456789', '123457'],
  [4_989_999_999n, '4.989999999', '4990000'],
  [4_990_000_001n, '4.990000001', '4990000'],
  [999_999_999_999_999_999n, '999999999.999999999', '1000000000000000'],
];

const setup = (settings: Record<string, string>): DestinationSetup => ({
  settings: { method: 'GET', url: 'https://example.com/p', ...settings },
  ...{ credentials: {}, secrets: [], isTest: false },
});
const send = (settings: Record<string, string>, event: Partial<OutboundEvent>) =>
  requestOf(postback.prepare(outboundEvent(event), setup(settings), 0));

const named = (name: string): Partial<OutboundEvent> => ({
  application: { id: 'app_1', name, storeId: null },
  attribution: { ...outboundEvent().attribution, campaign: { id: 'cmp_1', name } } as never,
});

describe.each(NAMES)('the name %j', (name) => {
  it('arrives in a query', async () => {
    const { url } = await send(
      { url: 'https://example.com/p?a={campaign}&b={application_name}' },
      named(name),
    );
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({ a: name, b: name });
    // Receivers that sign or route by the raw text expect RFC 3986, and a URL may stand within quotes or brackets.
    expect(url.slice('https://example.com/p?a='.length)).toMatch(/^[\w.~%&=-]*$/);
  });

  it('arrives in a path', async () => {
    const { url } = await send({ url: 'https://example.com/x/{campaign}/y' }, named(name));
    const { pathname, search, hash } = new URL(url);
    expect([search, hash]).toEqual(['', '']);
    expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'x', name, 'y']);
  });

  it('arrives in JSON', async () => {
    const settings = { method: 'POST', body: '{"n":"{campaign}","m":"a{application_name}b"}' };
    const { body } = await send(settings, named(name));
    expect(JSON.parse(body ?? '')).toEqual({ n: name, m: `a${name}b` });
  });

  it('arrives in a form', async () => {
    const headers = 'Content-Type: application/x-www-form-urlencoded';
    const { body } = await send(
      { method: 'POST', headers, body: 'n={campaign}&m={application_name}' },
      named(name),
    );
    expect(Object.fromEntries(new URLSearchParams(body ?? ''))).toEqual({ n: name, m: name });
  });

  it('arrives in a header', async () => {
    const { headers } = await send({ headers: 'X-Name: {campaign}' }, named(name));
    expect(decodeURIComponent(new Headers(headers).get('X-Name') ?? '')).toBe(name);
  });
});

describe.each(AMOUNTS)('%i billionths', (nanos, units, micros) => {
  it('arrive in a template', async () => {
    const { url } = await send(
      { url: 'https://example.com/p?v={value}&m={value_micros}' },
      { value: { nanos, currency: 'eur' } },
    );
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({ v: units, m: micros });
  });

  it.each(KIND_NAMES.filter((kind) => kind !== 'postback'))('arrive in %s', async (kind) => {
    const settings = { dataset_id: '1', tiktok_app_id: '2', snap_app_id: '3', url: 'https://example.com/p' };
    const own = { ...setup(settings), credentials: { access_token: 't' }, secrets: ['whsec_c2VjcmV0'] };
    const event = outboundEvent({ value: { nanos, currency: 'eur' } });
    const { body } = await requestOf(kindOf(kind).prepare(event, own, 0));
    const found: unknown[] = [];
    JSON.parse(body ?? '', (name, value) => {
      if (name === 'value') found.push(value);
      return value;
    });
    expect(found.filter((value) => typeof value === 'number')).toEqual([fromNanos(nanos)]);
  });
});

describe('times', () => {
  it.each([
    [0, '0', '1774612800000'],
    [999, '0', '1774612800999'],
    [1_000, '1', '1774612801000'],
  ])('%i ms after a second', async (after, second, ms) => {
    const at = Date.UTC(2026, 2, 27, 12) + after;
    const { url } = await send(
      { url: 'https://example.com/p?s={event_time}&m={event_time_ms}&i={event_time_iso}' },
      { at },
    );
    const { s, m, i } = Object.fromEntries(new URL(url).searchParams);
    expect([Number(s) - 1_774_612_800, m, i]).toEqual([Number(second), ms, new Date(at).toISOString()]);
  });
});
