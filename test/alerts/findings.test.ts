import { describe, expect, it } from 'vitest';
import { nextDigestAt } from '../../src/alerts/digest-time.ts';
import { findChange, findIdleSpend, findLimit, findSilence } from '../../src/alerts/findings.ts';
import { webhookFault } from '../../src/alerts/webhook-url.ts';

const DAY = '2026-03-27'; // a Friday
const show = (value: number) => `$${value}`;

const change = (values: Record<string, number | null>, thresholdPercent = 30) =>
  findChange({
    name: 'Revenue',
    verb: 'was',
    day: DAY,
    thresholdPercent,
    values: new Map(Object.entries(values)),
    show,
  });

describe('a day against its weekday', () => {
  const weeks = { '2026-03-20': 90, '2026-03-13': 110, '2026-03-06': 80, '2026-02-27': 120 };

  it.each([
    ['far below', 60, true],
    ['far above', 140, true],
    ['on the limit', 70, false],
    ['as usual', 100, false],
  ])('%s', (_, value, firing) => {
    expect(change({ ...weeks, [DAY]: value }).firing).toBe(firing);
  });

  it('states both figures and their difference', () => {
    expect(change({ ...weeks, [DAY]: 60 }).text).toBe(
      'Revenue on Friday, 2026-03-27, was $60, 40% below the mean of the last 4 Fridays ($100).',
    );
  });

  it('counts a day without a row as 0, except before the first row', () => {
    expect(change({ '2026-03-20': 100, '2026-03-13': 100 })).toEqual({
      firing: true,
      text: 'Revenue on Friday, 2026-03-27, was $0, 100% below the mean of the last 2 Fridays ($100).',
    });
    expect(change({ '2026-03-13': 100, [DAY]: 40 }, 10).text).toBe(
      'Revenue on Friday, 2026-03-27, was $40, 20% below the mean of the last 2 Fridays ($50).',
    );
  });

  it.each([
    ['one week', { '2026-03-20': 100, [DAY]: 1 }],
    ['nothing but zeros', { '2026-03-20': 0, '2026-03-13': 0, [DAY]: 1 }],
    ['a figure that is not known', { ...weeks, [DAY]: null }],
    ['no figure at all', {}],
  ])('finds nothing in %s', (_, values) => {
    expect(change(values).firing).toBeNull();
  });
});

describe('silence', () => {
  const now = Date.UTC(2026, 2, 27, 12);
  const silence = (lastEventAt: number | null, hasDevices = true) =>
    findSilence({ hours: 1, lastEventAt, hasDevices, timezone: 'Europe/Berlin', now });

  it('starts after the chosen number of hours', () => {
    expect(silence(now - 3_600_000).firing).toBe(false);
    expect(silence(now - 3_600_001)).toEqual({
      firing: true,
      text: 'No event has arrived since 2026-03-27 11:59 (Europe/Berlin).',
    });
  });

  it('is not reported before the first event, but is once the last event has been deleted', () => {
    expect(silence(null, false).firing).toBeNull();
    expect(silence(null).firing).toBe(true);
  });
});

it('names the campaigns with spend but no install, highest spend first', () => {
  const of = (campaign: string, spend: number | null, installs: number) => ({ campaign, spend, installs });
  const idle = (campaigns: ReturnType<typeof of>[]) =>
    findIdleSpend({ day: DAY, threshold: 20, campaigns, currency: 'usd' });
  expect(idle([of('A', 25, 0), of('B', 90, 0), of('C', 90, 1), of('D', 20, 0), of('E', null, 0)])).toEqual({
    firing: true,
    text: 'Spend without installs on 2026-03-27: B ($90.00), A ($25.00).',
  });
  expect(idle([of('C', 90, 1)]).firing).toBe(false);
  expect(idle(Array.from({ length: 7 }, (_, index) => of(`${index}`, 30, 0))).text).toBe(
    'Spend without installs on 2026-03-27: 0 ($30.00), 1 ($30.00), 2 ($30.00), 3 ($30.00), 4 ($30.00) and 2 more campaigns.',
  );
});

it('compares a ratio with its limit in both directions, and ignores a missing one', () => {
  const limit = (value: number | null, side: 'above' | 'below') =>
    findLimit({ name: 'CPI', value, limit: 2, side, show }).firing;
  expect([limit(2.1, 'above'), limit(2, 'above'), limit(1.9, 'below'), limit(2, 'below')]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect([limit(null, 'above'), limit(null, 'below')]).toEqual([null, null]);
});

describe('the time of a digest', () => {
  const next = (digest: 'never' | 'daily' | 'weekly', timezone: string, from: string) => {
    const at = nextDigestAt(digest, timezone, Date.parse(from));
    return at === null ? null : new Date(at).toISOString();
  };

  it.each([
    ['daily', 'UTC', '2026-03-27T07:59:59Z', '2026-03-27T08:00:00.000Z'],
    ['daily', 'UTC', '2026-03-27T08:00:00Z', '2026-03-28T08:00:00.000Z'],
    ['weekly', 'UTC', '2026-03-27T08:00:00Z', '2026-03-30T08:00:00.000Z'],
    ['weekly', 'UTC', '2026-03-30T08:00:00Z', '2026-04-06T08:00:00.000Z'],
    // Summer time begins on 2026-03-29.
    ['daily', 'Europe/Berlin', '2026-03-28T08:00:00Z', '2026-03-29T06:00:00.000Z'],
    ['daily', 'Asia/Kathmandu', '2026-03-27T12:00:00Z', '2026-03-28T02:15:00.000Z'],
  ] as const)('%s in %s after %s', (digest, timezone, from, expected) => {
    expect(next(digest, timezone, from)).toBe(expected);
  });

  it('is never for never', () => {
    expect(next('never', 'UTC', '2026-03-27T08:00:00Z')).toBeNull();
  });
});

describe('the address of a webhook', () => {
  it.each([
    'https://hooks.slack.com/services/T0/B0/x',
    'https://example.com:8443/hook?x=1',
    'https://93.184.216.34/hook',
    'https://[2606:2800:220:1::1]/hook',
    'https://example.com:443/hook',
    'https://example.com./hook',
    'https://local.example.com/hook',
    'https://1-2.a_b.xn--p1ai/hook',
  ])('may be %s', (url) => {
    expect(webhookFault(url)).toBeNull();
  });

  it.each([
    'http://example.com/hook',
    'ftp://example.com',
    'no address',
    '',
    'https://user:secret@example.com/hook',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://localhost/',
    'https://localhost./',
    'https://db.internal/',
    'https://printer.local/',
    'https://intranet/',
    'https://127.0.0.1./',
    'https://10.0.0.1../',
    'https://localhost../',
    'https://db.internal../',
    'https://a..example.com/',
    'https://017700000001/',
    'https://router.lan/',
    'https://nas.home/',
    'https://x.home.arpa/',
    'https://home.arpa/',
    'https://x.corp/',
    'https://x.localdomain/',
    'https://x.onion/',
    'https://[::127.0.0.1]/',
    'https://[::10.0.0.1]/',
    'https://[::2]/',
    'https://[4000::1]/',
    'https://[2002:7f00:1::]/',
    'https://user@example.com/',
    'https://:secret@example.com/',
    'https://example.com:22/',
    'https://example.com:80/',
    'https://example.com:1023/',
  ])('may not be %s', (url) => {
    expect(webhookFault(url)).toMatch(/^must (be a URL that begins with https|not )/);
  });
});
