import { DatabaseSync } from 'node:sqlite';

/**
 * What an import has to remember of every row and device of its file: in a database on disk, so that memory does not depend on the file's
 * size. Nothing in it outlives the import.
 */
export class Scratch {
  private readonly database: DatabaseSync;
  private readonly sql: ReturnType<DatabaseSync['createTagStore']>;

  constructor(file: string) {
    this.database = new DatabaseSync(file);
    this.sql = this.database.createTagStore();
    this.database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
      CREATE TABLE seen (key TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
      CREATE TABLE fetched (device TEXT PRIMARY KEY, token TEXT NOT NULL) WITHOUT ROWID;
      BEGIN`);
  }

  /** How many times this was called with the key, this time included. */
  count(key: string): number {
    const seen = this.sql
      .get`INSERT INTO seen VALUES (${key}, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count`;
    return Number(seen?.count);
  }

  saveToken(device: string, token: string): void {
    this.sql.run`INSERT OR REPLACE INTO fetched VALUES (${device}, ${token})`;
  }

  tokenOf(device: string): string | null {
    const token = this.sql.get`SELECT token FROM fetched WHERE device = ${device}`?.token;
    return typeof token === 'string' ? token : null;
  }

  close(): void {
    this.database.close();
  }
}
