/** The three forms of RFC 9110 begin with the name of a day. `Date.parse` alone takes much else for a date. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** How long the header `Retry-After` asks to wait from `now` on, in milliseconds; null if it is absent or says nothing. */
export function readRetryAfter(headers: Headers, now: number): number | null {
  const text = headers.get('Retry-After')?.trim() ?? '';
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : at - now;
  return Number.isNaN(waitMs) ? null : Math.max(waitMs, 0);
}
