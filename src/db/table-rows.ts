import { Buffer } from 'node:buffer';
import { type SQL, sql } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { jsonChunks } from '#lib/collections/chunks';
import { keyOf } from './key-of.ts';
import * as schema from './schemas.ts';

// Rows of any table in a form that survives JSON: integers as text, because a number in JavaScript is exact only up to 2^53, and blobs in
// base64. A snapshot stores them, and a restore writes them back.

export type DatabaseCell = string | number | null | { base64: string };
export type TableRow = readonly DatabaseCell[];
/** Rows with the names of their columns. A table may have got further columns since they were read. */
export type TableRows = { table: string; columns: readonly string[]; rows: readonly TableRow[] };

/** A page of rows has about this many characters. */
const PAGE_CHARACTERS = 2_000_000;
const FIRST_PAGE_ROWS = 100;
const MAX_PAGE_ROWS = 20_000;

export const columnNames = (table: SQLiteTable): string[] =>
  getTableConfig(table).columns.map(({ name }) => name);

const isInteger = (column: SQLiteColumn) => column.getSQLType() === 'integer';

/** A query for the rows after a key, in the order of the primary key, with the columns in the order of `columnNames`. */
function pageQuery(
  table: SQLiteTable,
  which: SQL | undefined,
  after: readonly DatabaseCell[],
  limit: number,
): SQL {
  const keys = keyOf(table);
  const columns = getTableConfig(table).columns.map((column) =>
    isInteger(column) ? sql`CAST(${column} AS TEXT)` : sql`${column}`,
  );
  const values = keys.map((column, place) =>
    isInteger(column) ? sql`CAST(${after[place]} AS INTEGER)` : sql`${after[place]}`,
  );
  const isNext =
    after.length === 0 ? sql`true` : sql`(${sql.join(keys, sql`, `)}) > (${sql.join(values, sql`, `)})`;
  return sql`SELECT ${sql.join(columns, sql`, `)} FROM ${table} WHERE ${which ?? sql`true`} AND ${isNext}
    ORDER BY ${sql.join(keys, sql`, `)} LIMIT ${limit}`;
}

const toCell = (value: unknown): DatabaseCell => {
  if (value instanceof ArrayBuffer) return { base64: Buffer.from(new Uint8Array(value)).toString('base64') };
  return value as DatabaseCell;
};

/** Reads a table in pages of bounded size. `run` executes a query and returns its rows as lists of values. */
export async function* pagesOf(
  table: SQLiteTable,
  which: SQL | undefined,
  run: (query: SQL) => unknown[][] | Promise<unknown[][]>,
): AsyncGenerator<TableRow[]> {
  const places = keyOf(table).map(({ name }) => columnNames(table).indexOf(name));
  let [after, limit]: [readonly DatabaseCell[], number] = [[], FIRST_PAGE_ROWS];
  for (;;) {
    const rows = (await run(pageQuery(table, which, after, limit))).map((row) => row.map(toCell));
    const last = rows.at(-1);
    if (last) yield rows;
    if (!last || rows.length < limit) return;
    after = places.map((place) => last[place] ?? null);
    const characters = JSON.stringify(rows).length / rows.length;
    limit = Math.max(1, Math.min(MAX_PAGE_ROWS, Math.floor(PAGE_CHARACTERS / characters)));
  }
}

/** A value may have 2 MB. */
const MAX_PARAMETER_CHARACTERS = 1_000_000;

/** Statements that insert rows without blobs; those whose key exists are left as they are. Rows of other columns get their defaults. */
export function* insertStatements({ table, columns, rows }: TableRows): Generator<SQL> {
  const values = columns.map((_, index) => sql.raw(`value ->> ${index}`));
  const names = columns.map((name) => sql.identifier(name));
  for (const part of jsonChunks(rows, MAX_PARAMETER_CHARACTERS)) {
    yield sql`INSERT INTO ${sql.identifier(table)} (${sql.join(names, sql`, `)})
      SELECT ${sql.join(values, sql`, `)} FROM json_each(${part}) WHERE true ON CONFLICT DO NOTHING`;
  }
}

/** The rollups of an application, which its counters add to. A snapshot reads them while no counter writes. */
export const ROLLED_UP: readonly SQLiteTable[] = [
  schema.rollupDaily,
  schema.rollupAds,
  schema.rollupItems,
  schema.rollupCustom,
  schema.cohortActivity,
  schema.cohortRevenue,
  schema.cubeParts,
  schema.cubeMonths,
];

/**
 * What else a snapshot has. What refers to something comes before it: a row that is added during the snapshot may be missing, but what a row
 * names never is. Applications come last, because a restored one accepts events.
 */
export const SETTINGS: readonly SQLiteTable[] = [
  schema.tokens,
  schema.clicks,
  schema.creativeRequests,
  schema.externalIds,
  schema.creatives,
  schema.adsets,
  schema.campaigns,
  schema.costs,
  schema.costColumns,
  schema.costNames,
  schema.exchangeRates,
  schema.reportedAdRevenue,
  schema.connectors,
  schema.destinations,
  schema.skanPostbacks,
  schema.storeNotifications,
  schema.skanSchemas,
  schema.parkedMessages,
  schema.parkedChunks,
  schema.alertChanges,
  schema.alerts,
  schema.channels,
  schema.notes,
  schema.savedViews,
  schema.shareLinks,
  schema.auditLog,
  schema.applicationDeletions,
  schema.invitations,
  schema.accessTokens,
  schema.apiKeys,
  schema.intakeSecrets,
  schema.twoFactors,
  schema.passkeys,
  schema.accounts,
  schema.members,
  schema.users,
  schema.teams,
  schema.hashKeys,
  schema.applications,
];
