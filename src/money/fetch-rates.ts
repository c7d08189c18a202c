import { readText } from '#lib/input/read-text';
import { addDays, dayIn } from '#lib/time';
import { saveSharedRates } from './exchange-rates.ts';
import { parseFurtherRates } from './further-rates.ts';
import { parseReferenceRates } from './reference-rates.ts';

const TIMEOUT_MS = 20_000;
/** The European Central Bank's daily file has 2 KB, its file of the last 90 days 80 KB; a list of all currencies has 10 KB. */
const MAX_BYTES = 4_000_000;

const PARSERS = { reference: parseReferenceRates, further: parseFurtherRates };

/**
 * Fetches the rates that a public source publishes at `url`, stores them for all teams and returns how many it has. Idempotent. Throws if the
 * source does not respond within 20 s, returns too much or returns no rate; earlier rates are kept.
 */
export async function fetchSharedRates(
  db: D1Database,
  source: keyof typeof PARSERS,
  url: string,
  now: number,
): Promise<number> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the exchange rate source returned status ${response.status}`);
  const { text, isCut } = await readText(response.body, MAX_BYTES + 1);
  if (isCut) throw new Error(`the exchange rate source returned more than ${MAX_BYTES} bytes`);
  // A day begins up to 14 hours earlier in other time zones.
  const lastDay = addDays(dayIn('UTC', now), 1);
  const rates = PARSERS[source](text, lastDay);
  if (rates.length === 0) throw new Error('the exchange rate source returned no rates');
  await saveSharedRates(db, source, rates, now);
  return rates.length;
}
