/**
 * A D1 that counts the statements it is asked to run and fails on demand. `failAt` names the statement of the next batch, from
 * 0, before which an error is thrown; as in D1, nothing of the batch is then kept.
 */
export class WatchedD1 {
  statements = 0;
  batches = 0;
  private fault: { matches: RegExp; message: string; times: number } | null = null;
  private readonly sql = new WeakMap<object, string>();

  private readonly real: D1Database;

  constructor(real: D1Database) {
    this.real = real;
  }

  /** The next `times` runs that hold a statement matching `matches` fail before anything of them is kept. */
  failOn(matches: RegExp, message: string, times = 1): void {
    this.fault = { matches, message, times };
  }

  /** As a binding. */
  asBinding(): D1Database {
    return this as unknown as D1Database;
  }

  prepare(sql: string): D1PreparedStatement {
    return this.watch(this.real.prepare(sql), sql);
  }

  withSession(): D1DatabaseSession {
    return this as unknown as D1DatabaseSession;
  }

  async batch<T>(statements: D1PreparedStatement[]): Promise<D1Result<T>[]> {
    this.batches++;
    this.statements += statements.length;
    for (const statement of statements) this.maybeFail(this.sql.get(statement) ?? '');
    return this.real.batch<T>(statements.map((statement) => this.unwrap(statement)));
  }

  private readonly wrapped = new WeakMap<object, D1PreparedStatement>();

  private unwrap(statement: D1PreparedStatement): D1PreparedStatement {
    return this.wrapped.get(statement) ?? statement;
  }

  private maybeFail(sql: string): void {
    if (!this.fault || this.fault.times === 0 || !this.fault.matches.test(sql)) return;
    this.fault.times--;
    throw new Error(this.fault.message);
  }

  private watch(statement: D1PreparedStatement, sql: string): D1PreparedStatement {
    const proxy: D1PreparedStatement = new Proxy(statement, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name === 'bind') return (...values: unknown[]) => this.watch(target.bind(...values), sql);
        return (...values: unknown[]) => {
          this.statements++;
          this.maybeFail(sql);
          return Reflect.apply(value, target, values);
        };
      },
    });
    this.sql.set(proxy, sql);
    this.wrapped.set(proxy, statement);
    return proxy;
  }
}
