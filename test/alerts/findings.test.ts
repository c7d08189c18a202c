import { describe, expect, it } from 'vitest';
import { nextDigestAt } from '../../src/alerts/digest-time.ts';
import { findSilence } from '../../src/alerts/findings.ts';

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
