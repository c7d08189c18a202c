import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { CommandError } from '../command.ts';
import { withLocalDatabase } from '../local-database.ts';
import { applyMigrations } from '../local-migrations.ts';
import { type LocalState, localState, makeDirectory, makeSecrets } from '../local-state.ts';
import { takeLock } from './state-lock.ts';
import { configFile, type WranglerCall } from './wrangler-call.ts';

/** Set for the wrangler that `npm start` runs, whose state is prepared and locked. */
export const IS_PREPARED = 'LOCAL_STATE_IS_PREPARED';

/** Makes what a local service needs: its directory, secrets and tables. Idempotent. `work` gets the database. */
export async function prepareState<Result>(
  state: LocalState,
  pid: number,
  work: (db: D1Database) => Promise<Result>,
  env?: string,
): Promise<Result> {
  try {
    await makeDirectory(state);
    await takeLock(state, pid);
    await makeSecrets(state);
    return await withLocalDatabase(
      state.directory,
      async (db) => {
        await applyMigrations(db);
        return work(db);
      },
      env,
    );
  } catch (error) {
    throw asDiskError(error, state.directory) ?? error;
  }
}

/**
 * Prepares the state of a plain `wrangler dev`, which is that of `npm start`, before it reads its secrets: they are in `.dev.vars` beside the
 * configuration, where wrangler looks for them. Variables that the file already has stay.
 */
export async function prepareForDev(call: WranglerCall): Promise<void> {
  if (process.env[IS_PREPARED]) return;
  const folder = path.dirname(configFile(call));
  const state = localState(call.state ?? path.join(folder, '.wrangler/state'));
  await prepareState(state, call.pid, async () => undefined, call.env);
  if (call.hasSecretsFile) return;
  const file = path.join(folder, '.dev.vars');
  const existing = await readFile(file, 'utf8').catch(() => '');
  const has = parseEnv(existing);
  const missing = Object.entries(parseEnv(await readFile(state.secretsFile, 'utf8'))).filter(
    ([name]) => has[name] === undefined,
  );
  if (missing.length === 0) return;
  const lines = missing.map(([name, value]) => `${name}=${value}\n`);
  const before = existing === '' || existing.endsWith('\n') ? existing : `${existing}\n`;
  await writeFile(file, before + lines.join(''), { mode: 0o600 });
}

/** What a disk that takes nothing makes of any write, of a file or of the database. */
const CAUSES = [
  ['the disk is full', /\bENOSPC\b|\bEDQUOT\b|SQLITE_FULL|disk is full/i],
  [
    'it is read-only, or belongs to another user',
    /\bEROFS\b|\bEACCES\b|\bEPERM\b|SQLITE_READONLY|SQLITE_CANTOPEN|unable to open database/i,
  ],
] as const;

/** One sentence about a directory that cannot be written; null for any other error. */
export function asDiskError(error: unknown, directory: string): CommandError | null {
  if (!(error instanceof Error) || error instanceof CommandError) return null;
  const said = [error, error.cause].map((part) => String(part)).join(' ');
  const [cause] = CAUSES.find(([, form]) => form.test(said)) ?? [];
  return cause ? new CommandError(`${directory} cannot be written: ${cause}.`) : null;
}
