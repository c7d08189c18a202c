type Fault = {
  /** The statement at which it happens. */
  matches: (sql: string, bindings: readonly unknown[]) => boolean;
  message: string;
  times: number;
  /** `before`: nothing is kept, as when a statement of a transaction fails. `after`: all is kept, but the caller never hears. */
  when: 'before' | 'after';
};

type Watched = { statement: D1PreparedStatement; sql: string; bindings: readonly unknown[] };

/** A D1 that counts the statements it runs, records their SQL and fails on demand. */
export class WatchedD1 {
  /** The SQL of every statement that was run, in order. */
  readonly log: string[] = [];
  private fault: Fault | null = null;
  private hold: { matches: Fault['matches']; onCall: () => void; until: Promise<void> } | null = null;
  private readonly real: D1Database;
  private readonly originals = new WeakMap<object, Watched>();

  constructor(real: D1Database) {
    this.real = real;
  }

  get statements(): number {
    return this.log.length;
  }

  /** The next runs that hold such a statement fail; how many is left when it is called again. */
  failOn(matches: RegExp, message: string, more: { times?: number; when?: Fault['when'] } = {}): void {
    this.fault = {
      matches: (sql) => matches.test(sql),
      message,
      times: more.times ?? 1,
      when: more.when ?? 'before',
    };
  }

  /** Every run that holds such a statement fails. */
  failWhen(matches: Fault['matches'], message: string): void {
    this.fault = { matches, message, times: Number.POSITIVE_INFINITY, when: 'before' };
  }

  /** Runs that hold such a statement call `onCall` and wait for `until`. */
  holdOn(matches: Fault['matches'], onCall: () => void, until: Promise<void>): void {
    this.hold = { matches, onCall, until };
  }

  get faultsLeft(): number {
    return this.fault?.times ?? 0;
  }

  asBinding(): D1Database {
    return this as unknown as D1Database;
  }

  prepare(sql: string): D1PreparedStatement {
    return this.watch({ statement: this.real.prepare(sql), sql, bindings: [] });
  }

  withSession(): D1DatabaseSession {
    return this as unknown as D1DatabaseSession;
  }

  async batch<Row>(statements: D1PreparedStatement[]): Promise<D1Result<Row>[]> {
    const originals = statements.map((statement) => {
      const original = this.originals.get(statement);
      if (!original) throw new Error('a statement of another database');
      return original;
    });
    return this.run(originals, () => this.real.batch<Row>(originals.map(({ statement }) => statement)));
  }

  private async run<Result>(watched: Watched[], work: () => Promise<Result>): Promise<Result> {
    this.log.push(...watched.map(({ sql }) => sql));
    const { fault, hold } = this;
    if (hold && watched.some(({ sql, bindings }) => hold.matches(sql, bindings))) {
      hold.onCall();
      await hold.until;
    }
    if (!fault || fault.times === 0 || !watched.some(({ sql, bindings }) => fault.matches(sql, bindings)))
      return work();
    fault.times--;
    if (fault.when === 'after') await work();
    throw new Error(fault.message);
  }

  private watch(watched: Watched): D1PreparedStatement {
    const { statement, sql } = watched;
    const proxy: D1PreparedStatement = new Proxy(statement, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name === 'bind') {
          return (...bindings: unknown[]) =>
            this.watch({ statement: target.bind(...bindings), sql, bindings });
        }
        return (...values: unknown[]) =>
          this.run([watched], async () => Reflect.apply(value, target, values));
      },
    });
    this.originals.set(proxy, watched);
    return proxy;
  }
}

/** A D1 that notes how many rows each statement of a batch reads. */
export function meterRows(real: D1Database): { db: D1Database; rowsRead: number[] } {
  const rowsRead: number[] = [];
  const db = new Proxy(real, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name !== 'batch') return typeof value === 'function' ? value.bind(target) : value;
      return async (statements: D1PreparedStatement[]) => {
        const results = await target.batch(statements);
        rowsRead.push(...results.map(({ meta }) => meta.rows_read));
        return results;
      };
    },
  });
  return { db, rowsRead };
}
