import { env } from 'cloudflare:workers';

/** The statements with which `wrangler d1 export --local` writes the rows of a table, a row each. */
export async function dumpRows(table: string): Promise<string[]> {
  const withoutSchema = [1, 0];
  const dump = await env.DB.prepare('PRAGMA miniflare_d1_export(?,?,?);')
    .bind(...withoutSchema, table)
    .raw<string[]>();
  return (dump[0] ?? []).filter((statement) => statement.startsWith('INSERT'));
}
