export type { CostFileSaved } from './answers.ts';
export { COST_FORMATS, COST_LANGUAGES, type CostFormat, definitionOf } from './cost-files/formats/index.ts';
export type { CostMap } from './cost-files/layout.ts';
export { costFileText, FILE_BOUNDS } from './cost-files/read-file.ts';
export { recallCostColumns, saveCostColumns } from './cost-files/remembered-columns.ts';
export {
  listCostNames,
  listUnmatchedNames,
  mapCostNames,
  NewCostName,
  namesText,
  unmapCostNames,
} from './cost-names.ts';
export { Costs, saveCosts } from './costs.ts';
export { CostsToDelete, deleteCosts } from './delete-costs.ts';
export { ExchangeRates, readRateBook, saveRates, selectRates } from './exchange-rates.ts';
export { fetchSharedRates } from './fetch-rates.ts';
export { deleteFetchedCosts, replaceFetchedCosts } from './fetched-costs.ts';
export { findFirstSpendDay } from './first-spend.ts';
export { parseFurtherRates } from './further-rates.ts';
export { CostsQuery, listCosts, sumCosts } from './list-costs.ts';
export { listRates, RatesQuery } from './list-rates.ts';
export { type PulledCost, PulledCosts } from './pulled-costs.ts';
export {
  convert,
  FURTHER_RANKS_DAYS_OLDER,
  type Parts,
  partsToNanos,
  type Rate,
  RateBook,
  type RateSource,
} from './rate-book.ts';
export { parseReferenceRates } from './reference-rates.ts';
export { saveCostFile } from './save-cost-file.ts';
export { writeNames } from './write-names.ts';
