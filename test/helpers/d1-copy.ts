import { env } from 'cloudflare:workers';

/** The size of the JSON that one statement inserts. A value may have 2 MB. */
const MAX_CHARACTERS = 1_000_000;

/** Copies all rows of the database. The returned function sets the database back to them, as its Time Travel does. */
export async function copyDatabase(): Promise<() => Promise<void>> {
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'",
  ).all<{ name: string }>();
  const copy = new Map<string, unknown[][]>();
  for (const { name } of tables) copy.set(name, await env.DB.prepare(`SELECT * FROM "${name}"`).raw());
  return async () => {
    for (const [name, rows] of copy) {
      await env.DB.batch([
        env.DB.prepare(`DELETE FROM "${name}"`),
        ...[...toParts(rows)].map((part) => insertRows(name, part)),
      ]);
    }
  };
}

function* toParts(rows: readonly unknown[][]): Generator<unknown[][]> {
  let [part, size]: [unknown[][], number] = [[], 0];
  for (const row of rows) {
    part.push(row);
    size += JSON.stringify(row).length;
    if (size < MAX_CHARACTERS) continue;
    yield part;
    [part, size] = [[], 0];
  }
  if (part.length > 0) yield part;
}

function insertRows(table: string, rows: readonly unknown[][]): D1PreparedStatement {
  const columns = (rows[0] ?? []).map((_, index) => `value ->> ${index}`).join(', ');
  return env.DB.prepare(`INSERT INTO "${table}" SELECT ${columns} FROM json_each(?)`).bind(
    JSON.stringify(rows),
  );
}
