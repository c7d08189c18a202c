import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations/counter');

/** As much of an object's storage as a counter needs, with the counter's tables: for tests that run in Node. */
export function memoryStorage(onRowsWritten: (rows: number) => void = () => {}): DurableObjectStorage {
  const db = new DatabaseSync(':memory:');
  // An object keeps its statements prepared too.
  const statements = new Map<string, StatementSync>();
  const prepare = (sql: string) => {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const exec = (sql: string, ...bindings: unknown[]) => {
    const statement = prepare(sql);
    statement.setReturnArrays(false);
    const inputs = bindings as SQLInputValue[];
    if (statement.columns().length === 0) {
      onRowsWritten(Number(statement.run(...inputs).changes));
      return { toArray: () => [], raw: () => ({ toArray: () => [] }), next: () => ({ value: undefined }) };
    }
    return {
      toArray: () => statement.all(...inputs),
      next: () => ({ value: statement.get(...inputs) }),
      raw: () => {
        statement.setReturnArrays(true);
        return { toArray: () => statement.all(...inputs) };
      },
    };
  };
  const transactionSync = <Result>(work: () => Result): Result => {
    db.exec('BEGIN');
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  };
  for (const file of readdirSync(MIGRATIONS).sort()) {
    if (!file.endsWith('.sql')) continue;
    for (const statement of readFileSync(path.join(MIGRATIONS, file), 'utf8').split(
      '--> statement-breakpoint',
    ))
      db.exec(statement);
  }
  return { sql: { exec }, transactionSync } as unknown as DurableObjectStorage;
}
