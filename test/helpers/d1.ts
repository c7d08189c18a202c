type Fault = {
  /** The statement at which it happens. */
  matches: RegExp;
  message: string;
  times: number;
  /** `before`: nothing is kept, as when a statement of a transaction fails. `after`: all is kept, but the caller never hears. */
  when: 'before' | 'after';
};

/** A D1 that counts the statements it is asked to run, remembers their SQL and fails on demand. */
export class WatchedD1 {
  /** The SQL of every statement that was run, in order. */
  readonly log: string[] = [];
  private fault: Fault | null = null;
  private readonly real: D1Database;
  private readonly originals = new WeakMap<object, { statement: D1PreparedStatement; sql: string }>();

  constructor(real: D1Database) {
    this.real = real;
  }

  get statements(): number {
    return this.log.length;
  }

  /** The next runs that hold such a statement fail; how many is left when it is called again. */
  failOn(matches: RegExp, message: string, more: { times?: number; when?: Fault['when'] } = {}): void {
    this.fault = { matches, message, times: more.times ?? 1, when: more.when ?? 'before' };
  }

  get faultsLeft(): number {
    return this.fault?.times ?? 0;
  }

  asBinding(): D1Database {
    return this as unknown as D1Database;
  }

  prepare(sql: string): D1PreparedStatement {
    return this.watch(this.real.prepare(sql), sql);
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
    return this.run(
      originals.map(({ sql }) => sql),
      () => this.real.batch<Row>(originals.map(({ statement }) => statement)),
    );
  }

  private async run<Result>(sql: string[], work: () => Promise<Result>): Promise<Result> {
    this.log.push(...sql);
    const { fault } = this;
    if (!fault || fault.times === 0 || !sql.some((text) => fault.matches.test(text))) return work();
    fault.times--;
    if (fault.when === 'after') await work();
    throw new Error(fault.message);
  }

  private watch(statement: D1PreparedStatement, sql: string): D1PreparedStatement {
    const proxy: D1PreparedStatement = new Proxy(statement, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name === 'bind') return (...values: unknown[]) => this.watch(target.bind(...values), sql);
        return (...values: unknown[]) => this.run([sql], async () => Reflect.apply(value, target, values));
      },
    });
    this.originals.set(proxy, { statement, sql });
    return proxy;
  }
}
