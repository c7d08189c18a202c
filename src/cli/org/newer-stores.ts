import { newerFormatsOf } from '#lib/encoding/store-formats';
import { CommandError } from '../command.ts';

/** Asks a deployment's database; returns the rows of one statement. */
type AskDatabase = (sql: string) => Promise<Record<string, unknown>[]>;

/** The stores of a deployment that a newer release has written, in sentences. */
export async function findNewerStores(ask: AskDatabase): Promise<string[]> {
  const [table] = await ask("SELECT name FROM sqlite_schema WHERE name = 'store_formats'");
  if (!table) return [];
  const rows = await ask('SELECT store, number FROM store_formats');
  return newerFormatsOf(rows as { store: string; number: number }[]).map(({ fault }) => fault);
}

/** Throws unless this release knows the format of every store of a deployment. */
export async function refuseNewerStores(ask: AskDatabase): Promise<void> {
  const [newer] = await findNewerStores(ask);
  if (newer) throw new CommandError(`${newer}. Nothing was changed: see "Roll back" in docs/operations.md.`);
}
