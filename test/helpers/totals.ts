import { columnsOf, MEASURES, ROLLUP_KEYS } from '#catalogue';
import { TOTALS } from '../../src/rollup/tables.ts';

/** The statements that recompute the totals from rows that a test wrote directly into the rollups. */
export const totalsOfRows = (): string[] =>
  (Object.keys(TOTALS) as (keyof typeof TOTALS)[]).flatMap((table) => {
    const keys: readonly string[] = ROLLUP_KEYS[table];
    const sums = MEASURES[table].flatMap(columnsOf);
    const ofKeys = keys.map((key) => (key === 'creative_id' ? "iif(creative_id = '', '', 'paid')" : key));
    return [
      `DELETE FROM ${TOTALS[table]}`,
      `INSERT INTO ${TOTALS[table]} (${[...keys, ...sums].join(', ')})
        SELECT ${[...ofKeys, ...sums.map((sum) => `sum(${sum})`)].join(', ')} FROM ${table}
        GROUP BY ${keys.map((_, index) => index + 1).join(', ')}`,
    ];
  });

export async function addTotals(db: D1Database): Promise<void> {
  await db.batch(totalsOfRows().map((sql) => db.prepare(sql)));
}
