import { isCurrencyOfAnyDay } from '#lib/currencies';
import { parseDecimal } from '#lib/decimal';
import { isDay } from '#lib/time';
import type { NewRate } from './exchange-rates.ts';

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
    if (currency === undefined || !isCurrencyOfAnyDay(currency) || !isDay(day)) continue;
    if (found.rate === undefined || parseDecimal(found.rate) === null) continue;
    rates.push({ currency, base: 'eur', day, units: found.rate, worth: '1' });
  }
  return rates;
}
