import { and, type Column, eq, getTableColumns, ne, or, type SQL, sql } from 'drizzle-orm';
import { COST_DIMENSIONS } from '#catalogue';
import { commaList, costs, type Database, named } from '#db';
import { KEY_COLUMNS, ROW_COLUMNS } from './cost-key.ts';
import type { CostValues } from './cost-names.ts';

// How rows of costs are stored, whether they were uploaded or fetched. Rows are passed as one parameter, for `json_each`.

/** What is passed of each row. */
const PASSED: readonly Column[] = [
  ...KEY_COLUMNS,
  costs.currency,
  costs.amount,
  costs.impressions,
  costs.clicks,
];

export const toParameter = (rows: readonly CostValues[]): string =>
  JSON.stringify(
    // Beyond 2^53, JSON has no exact numbers.
    rows.map(({ key, nanos, ...row }) => [...key, row.currency, `${nanos}`, row.impressions, row.clicks]),
  );

/** A parameter takes 2 MB. */
const CHARACTERS_PER_PART = 400_000;

/**
 * Rows in parts that each fit into a parameter, sorted by their keys. Rows of the same day and names stay together, because they may be of the same
 * money.
 */
export function partsOf(rows: readonly CostValues[]): CostValues[][] {
  const sorted = rows
    .map((row) => ({ row, text: row.key.join('\0'), names: row.key.slice(0, 4).join('\0') }))
    .sort((left, right) => (left.text < right.text ? -1 : left.text > right.text ? 1 : 0));
  const parts: CostValues[][] = [];
  let [characters, last] = [Number.POSITIVE_INFINITY, ''];
  for (const { row, text, names } of sorted) {
    const isFull = characters > CHARACTERS_PER_PART && names !== last;
    if (isFull || characters > 2 * CHARACTERS_PER_PART) {
      parts.push([]);
      characters = 0;
    }
    parts.at(-1)?.push(row);
    // Besides the key, a row has up to 60 characters.
    characters += text.length + 60;
    last = names;
  }
  return parts;
}

/** The values of a stored row, in the order of the table's columns. */
const insertedInto = (applicationId: string, connectorId: string, now: number): SQL[] =>
  Object.values(getTableColumns(costs)).map((column) => {
    if (column === costs.applicationId) return sql`${applicationId}`;
    if (column === costs.connectorId) return sql`${connectorId}`;
    if (column === costs.updatedAt) return sql`${now}`;
    const value = `value ->> ${PASSED.indexOf(column)}`;
    return sql.raw(column === costs.amount ? `CAST(${value} AS INTEGER)` : value);
  });

/** Stores rows if a condition holds. A row overwrites the one with the same key. `connectorId` is empty for an upload. */
export const insertCosts = (
  db: Database,
  { applicationId, connectorId }: { applicationId: string; connectorId: string },
  rows: string,
  { now, when = sql`true` }: { now: number; when?: SQL },
) =>
  db
    .insert(costs)
    .select(
      sql`SELECT ${commaList(insertedInto(applicationId, connectorId, now))} FROM json_each(${rows}) WHERE ${when}`,
    )
    .onConflictDoUpdate({
      target: [costs.applicationId, ...ROW_COLUMNS],
      set: {
        currency: sql`excluded.currency`,
        amount: sql`excluded.amount`,
        impressions: sql`excluded.impressions`,
        clicks: sql`excluded.clicks`,
        updatedAt: sql`excluded.updated_at`,
      },
    });

const DIMENSION_COLUMNS: readonly Column[] = COST_DIMENSIONS.map((name) => costs[name]);

/**
 * The stored rows that may be of the same money as one of these: of the same day and names, and each dimension has the same value or is not stated
 * by one of the two. `exactly`: only those with the same dimensions.
 */
function ofSameMoney(applicationId: string, rows: string, exactly: boolean): SQL | undefined {
  const isSame = KEY_COLUMNS.map((column, index) => {
    const [own, sent] = [sql`own.${named(column)}`, sql.raw(`sent.value ->> ${index}`)];
    const isOpen = !exactly && DIMENSION_COLUMNS.includes(column);
    return isOpen ? or(eq(own, sent), eq(own, ''), eq(sent, '')) : eq(own, sent);
  });
  // Joined in this order, so that each of the rows finds those of its day and names by the primary key.
  const found = sql`SELECT ${commaList(KEY_COLUMNS.map((column) => sql`own.${named(column)}`))}
    FROM json_each(${rows}) AS sent CROSS JOIN ${costs} AS own
    WHERE ${and(sql`own.application_id = ${applicationId}`, ...isSame)}`;
  return and(eq(costs.applicationId, applicationId), sql`(${commaList(KEY_COLUMNS)}) IN (${found})`);
}

/**
 * What an upload replaces beside the uploaded rows of its own keys, which it overwrites: fetched ones, and uploaded ones that state other
 * dimensions. If it `corrects` rows, only fetched ones of its own keys.
 */
export function replacedByUpload(applicationId: string, rows: string, corrects: boolean): SQL | undefined {
  const keys = KEY_COLUMNS.map((_, index) => sql.raw(`value ->> ${index}`));
  const isOther = sql`(${commaList(KEY_COLUMNS)}) NOT IN (SELECT ${commaList(keys)} FROM json_each(${rows}))`;
  return and(ofSameMoney(applicationId, rows, corrects), or(ne(costs.connectorId, ''), isOther));
}

/** What an upload replaces of rows that have its names in another form of Unicode. */
export const replacedForms = (applicationId: string, rows: string, corrects: boolean): SQL | undefined =>
  ofSameMoney(applicationId, rows, corrects);

/** What fetched rows replace of uploads. Those of another connector are of another account. */
export const replacedByFetched = (applicationId: string, rows: string): SQL | undefined =>
  and(ofSameMoney(applicationId, rows, false), eq(costs.connectorId, ''));
