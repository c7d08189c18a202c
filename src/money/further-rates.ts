import * as z from 'zod';
import { CURRENCIES } from '#lib/currencies';
import { parseDecimal, toDecimal } from '#lib/decimal';
import { exactJsonOrNull } from '#lib/encoding/exact-json';
import { isDay } from '#lib/time';
import type { NewRate } from './exchange-rates.ts';

/** Units of each currency per euro, of one day. Codes are lower-case; many are of cryptocurrencies. */
const DayOfRates = z.object({
  date: z.string().refine(isDay),
  eur: z.record(z.string(), z.unknown()),
});

/**
 * Parses a day of the list of currencies at https://github.com/fawazahmed0/exchange-api (CC0). Whatever is not a currency of ISO 4217 with a
 * number above 0 is skipped, and all of it if the file is malformed or dated later than `lastDay`.
 */
export function parseFurtherRates(text: string, lastDay: string): NewRate[] {
  const { data } = DayOfRates.safeParse(exactJsonOrNull(text));
  if (!data || data.date > lastDay) return [];
  return Object.entries(data.eur).flatMap(([currency, number]) => {
    if (currency === 'eur' || !CURRENCIES.has(currency) || typeof number !== 'number') return [];
    const units = toDecimal(number);
    return parseDecimal(units) === null ? [] : [{ currency, base: 'eur', day: data.date, units, worth: '1' }];
  });
}
