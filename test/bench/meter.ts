// What the platform bills of the stores, summed up: rows written, deletes included, as D1 and objects count them.

export type Metered = { statements: number; rowsWritten: number; rowsRead: number };

/** Watches what a D1 database is asked and what it says that cost. */
export class DatabaseMeter implements Metered {
  statements = 0;
  rowsWritten = 0;
  rowsRead = 0;
  readonly binding: D1Database;
  private readonly originals = new WeakMap<object, D1PreparedStatement>();

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
    return this.watch(db.prepare(sql));
  }

  private watch(statement: D1PreparedStatement): D1PreparedStatement {
    const watched: D1PreparedStatement = new Proxy(statement, {
      get: (target, name) => {
        if (name === 'bind') return (...values: unknown[]) => this.watch(target.bind(...values));
        if (name === 'run' || name === 'all') return async () => this.add(await target[name]());
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    this.originals.set(watched, statement);
    return watched;
  }

  private async batch(
    db: D1Database | D1DatabaseSession,
    statements: D1PreparedStatement[],
  ): Promise<D1Result[]> {
    const results = await db.batch(statements.map((statement) => this.originals.get(statement) ?? statement));
    for (const result of results) this.add(result);
    return results;
  }

  private add(result: D1Result): D1Result {
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
  private open: SqlStorageCursor<Record<string, SqlStorageValue>> | null = null;

  constructor(storage: DurableObjectStorage) {
    const exec = (query: string, ...bindings: unknown[]) => {
      this.close();
      this.statements++;
      this.open = storage.sql.exec(query, ...bindings);
      return this.open;
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

  private close(): void {
    this.written += this.open?.rowsWritten ?? 0;
    this.read += this.open?.rowsRead ?? 0;
    this.open = null;
  }
}
