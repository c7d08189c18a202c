import { CURRENCIES } from '#lib/currencies';
import { parseDecimal } from '#lib/decimal';
import { isDay } from '#lib/time';
import { type NewRate, saveReferenceRates } from './exchange-rates.ts';
import { fetchRates } from './fetch-rates.ts';

const CUBE = /<Cube\s+([^>]*?)\/?>/g;
const ATTRIBUTE = /(\w+)\s*=\s*['"]([^'"]*)['"]/g;

/**
 * Parses a file in the format of the European Central Bank: units of each currency per euro, by day.
 * Invalid days and currencies are skipped.
 * Source: https://www.ecb.europa.eu/stats/policy_and_exchange_rates/euro_reference_exchange_rates/
 */
export function parseReferenceRates(xml: string): NewRate[] {
  const rates: NewRate[] = [];
  let day = '';
  for (const [, attributes = ''] of xml.matchAll(CUBE)) {
    const found = Object.fromEntries(
      [...attributes.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, value]),
    );
    if (found.time !== undefined) day = found.time;
    const currency = found.currency?.toLowerCase();
    if (currency === undefined || !CURRENCIES.has(currency) || !isDay(day)) continue;
    if (found.rate === undefined || parseDecimal(found.rate) === null) continue;
    rates.push({ currency, base: 'eur', day, units: found.rate, worth: '1' });
  }
  return rates;
}

/**
 * Fetches the reference rates, stores them for all teams and returns how many. Idempotent.
 * Throws if the source does not respond or returns no rate; earlier rates are kept.
 */
export async function fetchReferenceRates(db: D1Database, url: string, now: number): Promise<number> {
  const rates = await fetchRates(url, parseReferenceRates);
  await saveReferenceRates(db, rates, now);
  return rates.length;
}
