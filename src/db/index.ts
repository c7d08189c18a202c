export { type Database, database } from './client.ts';
export { batchWithRetry, isTransient, needsLessData } from './retry.ts';
export * from './schema/attribution.ts';
export * from './schema/creatives.ts';
export * from './schema/ingestion.ts';
export * from './schema/members.ts';
export * from './schema/money.ts';
export * from './schema/rollup.ts';
export * from './schema/teams.ts';
