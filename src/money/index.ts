export { Costs, type CostsAnswer, saveCosts } from './costs.ts';
export { CostsToDelete, deleteCosts } from './delete-costs.ts';
export { ExchangeRates, ratedSql, readRateBook, saveRates, selectRates } from './exchange-rates.ts';
export { CostsQuery, listCosts } from './list-costs.ts';
export { listRates, RatesQuery } from './list-rates.ts';
export { convert, type Parts, partsToMicros, type Rate, RateBook } from './rate-book.ts';
export { fetchReferenceRates, parseReferenceRates } from './reference-rates.ts';
export { moneyRoutes } from './routes.ts';
