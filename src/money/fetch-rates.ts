import type { NewRate } from './exchange-rates.ts';

const TIMEOUT_MS = 20_000;
/** The European Central Bank's daily file has 2 KB, its file of the last 90 days 80 KB; a list of all currencies has 10 KB. */
const MAX_BYTES = 4_000_000;

/** The text of an answer. Throws once it is longer than any file of rates. */
async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = '';
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the exchange rate source returned more than ${MAX_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

/**
 * The rates that a public source publishes at `url`, read by `parse`. Throws if the source does not respond within 20 s, returns too much or
 * returns no rate.
 */
export async function fetchRates(url: string, parse: (text: string) => NewRate[]): Promise<NewRate[]> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the exchange rate source returned status ${response.status}`);
  const rates = parse(await readText(response));
  if (rates.length === 0) throw new Error('the exchange rate source returned no rates');
  return rates;
}
