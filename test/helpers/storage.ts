type Fault = { matches: RegExp; message: string; times: number; when: 'before' | 'after' | 'commit' };

/**
 * An object's storage that fails on demand: `before` or `after` it has run a matching statement, which rolls back a
 * transaction, or once a transaction with such a statement has been committed (`commit`). Counts the rows that are read and written.
 */
export class WatchedStorage {
  private readonly real: DurableObjectStorage;
  /** Every statement that was run, in order. */
  readonly queries: string[] = [];
  /** The most characters that a statement was given in one value. */
  longestValue = 0;
  private fault: Fault | null = null;
  private failsAtCommit = false;
  private readonly cursors: { rowsRead: number; rowsWritten: number }[] = [];

  constructor(real: DurableObjectStorage) {
    this.real = real;
  }

  failOn(matches: RegExp, when: Fault['when'], times = 1, message = 'Network connection lost.'): void {
    this.fault = { matches, when, times, message };
  }

  get faultsLeft(): number {
    return this.fault?.times ?? 0;
  }

  get rowsWritten(): number {
    return this.cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0);
  }

  get rowsRead(): number {
    return this.cursors.reduce((sum, cursor) => sum + cursor.rowsRead, 0);
  }

  asStorage(): DurableObjectStorage {
    const { real } = this;
    const sql = new Proxy(real.sql, {
      get: (target, name) => {
        if (name === 'exec') return (query: string, ...bindings: unknown[]) => this.exec(query, bindings);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    return new Proxy(real, {
      get: (target, name) => {
        if (name === 'sql') return sql;
        if (name === 'transactionSync') return <Result>(work: () => Result) => this.transact(work);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  private exec(query: string, bindings: unknown[]) {
    const { fault } = this;
    const hit = fault !== null && fault.times > 0 && fault.matches.test(query);
    if (hit && fault.when === 'before') this.strike(fault);
    this.queries.push(query);
    for (const value of bindings)
      if (typeof value === 'string') this.longestValue = Math.max(this.longestValue, value.length);
    const cursor = this.real.sql.exec(query, ...bindings);
    this.cursors.push(cursor);
    if (hit && fault.when === 'after') this.strike(fault);
    if (hit && fault.when === 'commit') this.failsAtCommit = true;
    return cursor;
  }

  private transact<Result>(work: () => Result): Result {
    this.failsAtCommit = false;
    const result = this.real.transactionSync(work);
    if (this.failsAtCommit && this.fault) this.strike(this.fault);
    return result;
  }

  private strike(fault: Fault): never {
    fault.times--;
    this.failsAtCommit = false;
    throw new Error(fault.message);
  }
}
