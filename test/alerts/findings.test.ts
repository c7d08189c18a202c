import { describe, expect, it } from 'vitest';
import { nextDigestAt } from '../../src/alerts/digest-time.ts';
import { findSilence } from '../../src/alerts/findings.ts';
import { webhookFault } from '../../src/alerts/webhook-url.ts';

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
