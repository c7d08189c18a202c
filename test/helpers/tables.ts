import { env } from 'cloudflare:workers';

type Column = { name: string; type: string; notnull: number };

/** The tables of the database as they are, with their columns. */
async function tables(): Promise<Map<string, Column[]>> {
  const { results } = await env.DB.prepare(
    `SELECT m.name AS "table", c.name, c.type, c."notnull" FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
     WHERE m.type = 'table' AND m.name NOT GLOB '_cf_*' AND m.name NOT GLOB 'sqlite_*' AND m.name <> 'd1_migrations'`,
  ).all<Column & { table: string }>();
  return new Map([...Map.groupBy(results, ({ table }) => table)].map(([table, columns]) => [table, columns]));
}

export const tableNames = async (): Promise<string[]> => [...(await tables()).keys()];

/** Adds a row of an application to every table with an `application_id`; returns the tables' names. */
export async function fillTables(applicationId: string): Promise<string[]> {
  const filled: string[] = [];
  for (const [table, columns] of await tables()) {
    if (!columns.some(({ name }) => name === 'application_id')) continue;
    const needed = columns.filter(({ name, notnull }) => notnull === 1 || name === 'application_id');
    const values = needed.map(({ name, type }) => {
      if (name === 'application_id') return applicationId;
      if (name === 'settings') return '{}';
      return type === 'INTEGER' || type === 'REAL' ? 1 : `${name} of ${applicationId}`;
    });
    await env.DB.prepare(
      // Of a table with one row for the deployment, the latest application has it.
      `INSERT OR REPLACE INTO "${table}" (${needed.map(({ name }) => `"${name}"`).join()}) VALUES (${needed.map(() => '?').join()})`,
    )
      .bind(...values)
      .run();
    filled.push(table);
  }
  return filled;
}

/** Every row of some tables, as JSON. */
export async function dump(names: readonly string[]): Promise<Record<string, string[]>> {
  const answers = await env.DB.batch(names.map((table) => env.DB.prepare(`SELECT * FROM "${table}"`)));
  return Object.fromEntries(
    names.map((name, index) => [
      name,
      (answers[index]?.results ?? []).map((row) => JSON.stringify(row)).sort(),
    ]),
  );
}

/** How many rows of each table name an application; tables without any are left out. */
export async function tablesWith(applicationId: string): Promise<Record<string, number>> {
  const known = [...(await tables())];
  const answers = await env.DB.batch<{ rows: number }>(
    known.map(([table, columns]) => {
      const texts = columns
        .filter(({ type }) => type === 'TEXT')
        .map(({ name }) => `coalesce("${name}", '')`);
      const row = ["''", ...texts].join(" || ' ' || ");
      return env.DB.prepare(`SELECT count(*) AS rows FROM "${table}" WHERE instr(${row}, ?1)`).bind(
        applicationId,
      );
    }),
  );
  const counts = known.map(([table], index) => [table, answers[index]?.results[0]?.rows ?? 0]);
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
}
