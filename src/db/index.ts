export { type Database, database } from './client.ts';
export { columnList, commaList, containsSql, excluded, isAmong, jsonValues, named } from './columns.ts';
export { deleteSome } from './delete-some.ts';
export { hasRow } from './has-row.ts';
export { inRounds, PRUNED_AT_ONCE } from './in-rounds.ts';
export { insertWhere } from './insert-where.ts';
export { reencryptColumn, reencryptKeys } from './reencrypt-column.ts';
export {
  HOT_DAYS,
  MAX_HOT_BYTES,
  MAX_HOT_MONTHS,
  NOTIFICATION_DAYS,
  POSTBACK_DAYS,
  TOKEN_ROW_DAYS,
} from './retention.ts';
export { batchWithRetry, isTransient, retryTransient } from './retry.ts';
export { runBatch } from './run-batch.ts';
export * from './schemas.ts';
export { sharedReads } from './shared-reads.ts';
export { prepareTemplate, toStatement } from './statement.ts';
export { MAX_VALUE_BYTES, splitValue } from './statement-size.ts';
export { guardDatabase, newerFormats, noteNewerFile, requireKnownDatabase } from './store-formats.ts';
export {
  columnNames,
  type DatabaseCell,
  insertStatements,
  pagesOf,
  ROLLED_UP,
  SETTINGS,
  type TableRow,
  type TableRows,
} from './table-rows.ts';
