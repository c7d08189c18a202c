import { readText } from '#lib/input/read-text';
import type { NewRate } from './exchange-rates.ts';

const TIMEOUT_MS = 20_000;
/** The European Central Bank's daily file has 2 KB, its file of the last 90 days 80 KB; a list of all currencies has 10 KB. */
const MAX_BYTES = 4_000_000;

/**
 * The rates that a public source publishes at `url`, read by `parse`. Throws if the source does not respond within 20 s, returns too much or
 * returns no rate.
 */
export async function fetchRates(url: string, parse: (text: string) => NewRate[]): Promise<NewRate[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the exchange rate source returned status ${response.status}`);
  const { text, isCut } = await readText(response.body, MAX_BYTES + 1);
  if (isCut) throw new Error(`the exchange rate source returned more than ${MAX_BYTES} bytes`);
  const rates = parse(text);
  if (rates.length === 0) throw new Error('the exchange rate source returned no rates');
  return rates;
}
