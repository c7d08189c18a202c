import { describe, expect, it } from 'vitest';
import { readStatus } from '#networks/outbound';

const NOW = Date.UTC(2026, 2, 27, 12);
const read = (status: number, retryAfter?: string) =>
  readStatus(
    { status, headers: new Headers(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }) },
    NOW,
  );

describe('what the status of an answer means', () => {
  it.each([200, 201, 202, 204, 299])('%i: delivered', (status) => {
    expect(read(status)).toEqual({ isDelivered: true });
    expect(read(status, '120')).toEqual({ isDelivered: true });
  });

  it.each([300, 301, 302, 303, 304, 307, 308, 399])(
    '%i: failed and retried, as redirects are not followed',
    (status) => {
      expect(read(status)).toEqual({
        isDelivered: false,
        reason: `Answered ${status}; redirects are not followed`,
        retry: true,
      });
    },
  );

  it('410: the destination is off, whatever else it says', () => {
    const off = { isDelivered: false, reason: 'Answered 410', retry: false, off: true };
    expect(read(410)).toEqual(off);
    expect(read(410, '120')).toEqual(off);
  });

  it.each([400, 401, 403, 404, 408, 409, 411, 413, 422, 425, 428])('%i: failed for good', (status) => {
    expect(read(status)).toEqual({ isDelivered: false, reason: `Answered ${status}`, retry: false });
  });

  it.each([400, 404, 413, 425, 429, 500, 503])('%i with Retry-After: retried then', (status) => {
    expect(read(status, '120')).toMatchObject({ isDelivered: false, retry: true, retryAfterMs: 120_000 });
  });

  it.each([429, 431, 499, 500, 502, 503, 504, 522, 599])('%i: retried', (status) => {
    expect(read(status)).toEqual({ isDelivered: false, reason: `Answered ${status}`, retry: true });
  });
});

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['86401', 86_400_000],
    ['99999999999999999999', 86_400_000],
    ['Fri, 27 Mar 2026 12:02:00 GMT', 120_000],
    // The obsolete forms of RFC 9110, which a recipient has to accept.
    ['Friday, 27-Mar-26 12:02:00 GMT', 120_000],
    ['Fri, 27 Mar 2026 11:00:00 GMT', 0],
    ['Sat, 27 Mar 2027 12:00:00 GMT', 86_400_000],
  ])('%s is a wait of %i ms', (text, retryAfterMs) => {
    expect(read(503, text)).toMatchObject({ retry: true, retryAfterMs });
  });

  it.each(['', 'soon', '-5', '1.5', 'Fri', '2026-03-27T12:02:00Z', 'NaN'])('"%s" says nothing', (text) => {
    expect(read(503, text)).toEqual({ isDelivered: false, reason: 'Answered 503', retry: true });
    expect(read(400, text)).toEqual({ isDelivered: false, reason: 'Answered 400', retry: false });
  });
});
