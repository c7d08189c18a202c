import type { Rate } from './rate-book.ts';

/**
 * The units of each former currency that a euro is worth, irrevocably. Until its last day, a currency was within a percent or two of its rate.
 * Source: Council Regulation (EC) No 2866/98, article 1, as amended until 2026 (Croatia: 2022/1208; Bulgaria: 2025).
 */
const UNITS_PER_EURO: Readonly<Record<string, string>> = {
  bgn: '1.95583',
  cyp: '0.585274',
  eek: '15.6466',
  hrk: '7.53450',
  ltl: '3.45280',
  lvl: '0.702804',
  mtl: '0.429300',
  sit: '239.640',
  skk: '30.1260',
};

/** Older than any rate of a day, so that each of those ranks before. */
const FIRST_DAY = '1999-01-01';

/** The rates by which amounts in former currencies are converted on days without a rate of their own. */
export const fixedRates = (currencies: ReadonlySet<string>): Rate[] =>
  Object.entries(UNITS_PER_EURO).flatMap(([currency, units]): Rate[] =>
    currencies.has(currency)
      ? [{ currency, base: 'eur', day: FIRST_DAY, units, worth: '1', source: 'reference' }]
      : [],
  );
