// What the platform bills of the stores, summed up: rows written, deletes included, as D1 and objects count them.

export type Metered = {
  statements: number;
  rowsWritten: number;
  rowsRead: number;
  /** Rows written, by table. */
  tables: Readonly<Record<string, number>>;
};

/** The table that a statement writes to; empty for one that only reads. */
const tableOf = (sql: string) =>
  /^\s*(?:insert(?: or \w+)? into|update|delete from)\s+"?(\w+)/i.exec(sql)?.[1] ?? '';

class TableRows {
  readonly rows: Record<string, number> = {};

  add(sql: string, written: number): void {
    if (written === 0) return;
    const table = tableOf(sql);
    this.rows[table] = (this.rows[table] ?? 0) + written;
  }
}

/** Watches what a D1 database is asked and what it says that cost. */
export class DatabaseMeter implements Metered {
  statements = 0;
  rowsWritten = 0;
  rowsRead = 0;
  readonly binding: D1Database;
  private readonly byTable = new TableRows();
  private readonly originals = new WeakMap<object, { statement: D1PreparedStatement; sql: string }>();

  constructor(db: D1Database) {
    const metered = (target: D1Database | D1DatabaseSession): D1Database =>
      new Proxy(target as D1Database, {
        get: (_, name) => {
          if (name === 'withSession') return () => metered(db.withSession());
          if (name === 'prepare') return (sql: string) => this.prepare(target, sql);
          if (name === 'batch') return (statements: D1PreparedStatement[]) => this.batch(target, statements);
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    this.binding = metered(db);
  }

  private prepare(db: D1Database | D1DatabaseSession, sql: string): D1PreparedStatement {
    this.statements++;
    return this.watch(db.prepare(sql), sql);
  }

  get tables() {
    return this.byTable.rows;
  }

  private watch(statement: D1PreparedStatement, sql: string): D1PreparedStatement {
    const watched: D1PreparedStatement = new Proxy(statement, {
      get: (target, name) => {
        if (name === 'bind') return (...values: unknown[]) => this.watch(target.bind(...values), sql);
        if (name === 'run' || name === 'all') return async () => this.add(await target[name](), sql);
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    this.originals.set(watched, { statement, sql });
    return watched;
  }

  private async batch(
    db: D1Database | D1DatabaseSession,
    statements: D1PreparedStatement[],
  ): Promise<D1Result[]> {
    const known = statements.map((statement) => this.originals.get(statement) ?? { statement, sql: '' });
    const results = await db.batch(known.map(({ statement }) => statement));
    for (const [index, result] of results.entries()) this.add(result, known[index]?.sql ?? '');
    return results;
  }

  private add(result: D1Result, sql: string): D1Result {
    this.byTable.add(sql, result.meta.rows_written);
    this.rowsWritten += result.meta.rows_written;
    this.rowsRead += result.meta.rows_read;
    return result;
  }
}

/** The same for an object's own storage, its alarms left out: one or two rows a run. */
export class StorageMeter implements Metered {
  statements = 0;
  readonly storage: DurableObjectStorage;
  private written = 0;
  private read = 0;
  /** What it has cost is known when it has been read to its end, so at the latest when the next one is opened. */
  private open: { cursor: SqlStorageCursor<Record<string, SqlStorageValue>>; sql: string } | null = null;
  private readonly byTable = new TableRows();

  constructor(storage: DurableObjectStorage) {
    const exec = (query: string, ...bindings: unknown[]) => {
      this.close();
      this.statements++;
      const cursor = storage.sql.exec(query, ...bindings);
      this.open = { cursor, sql: query };
      return cursor;
    };
    const bound = <Target extends object>(target: Target, own: Record<string, unknown>): Target =>
      new Proxy(target, {
        get: (_, name) => {
          if (typeof name === 'string' && name in own) return own[name];
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    this.storage = bound(storage, { sql: bound(storage.sql, { exec }) });
  }

  get rowsWritten(): number {
    this.close();
    return this.written;
  }

  get rowsRead(): number {
    this.close();
    return this.read;
  }

  get tables() {
    this.close();
    return this.byTable.rows;
  }

  private close(): void {
    if (!this.open) return;
    const { cursor, sql } = this.open;
    this.open = null;
    this.written += cursor.rowsWritten;
    this.read += cursor.rowsRead;
    this.byTable.add(sql, cursor.rowsWritten);
  }
}
