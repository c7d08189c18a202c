export { Costs, type CostsAnswer, saveCosts } from './costs.ts';
export { ExchangeRates, ratedSql, readRateBook, SELECT_RATES } from './exchange-rates.ts';
export { findFirstSpendDay } from './first-spend.ts';
export { convert, type Parts, partsToMicros, type Rate, RateBook } from './rate-book.ts';
export { fetchReferenceRates, parseReferenceRates } from './reference-rates.ts';
export { moneyRoutes } from './routes.ts';
