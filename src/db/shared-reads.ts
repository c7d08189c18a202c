/** A statement that may be shared: its text and values. */
type SharedRead = { statement: D1PreparedStatement; sql: string; values: readonly unknown[] };

const isRead = (sql: string) => /^\s*(?:select|with)\b/i.test(sql);

/** The databases that share reads already. */
const SHARING = new WeakSet<D1Database>();

/**
 * A database for the reports of one page, which are read at the same time and need some of the same rows. A read that equals one in flight
 * waits for its answer instead of being sent again. Answers are shared, so they must not be changed. For reads only: anything that starts
 * with SELECT or WITH is taken for one.
 */
export function sharedReads(d1: D1Database): D1Database {
  if (SHARING.has(d1)) return d1;
  const inFlight = new Map<string, Promise<unknown>>();
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();

  const share = (key: string, read: () => Promise<unknown>): Promise<unknown> => {
    const known = inFlight.get(key);
    if (known !== undefined) return known;
    const answer = read().finally(() => inFlight.delete(key));
    inFlight.set(key, answer);
    return answer;
  };
  const wrap = ({ statement, sql, values }: SharedRead): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get: (target, name) => {
        const own: unknown = Reflect.get(target, name);
        if (typeof own !== 'function') return own;
        if (name === 'bind') {
          return (...bound: unknown[]) => wrap({ statement: target.bind(...bound), sql, values: bound });
        }
        const call = (options: unknown[]) => Reflect.apply(own, target, options);
        const isShared = (name === 'all' || name === 'raw') && isRead(sql);
        if (!isShared) return (...options: unknown[]) => call(options);
        return (...options: unknown[]) =>
          share(JSON.stringify([name, sql, values, options]), () => call(options));
      },
    });
    originals.set(wrapped, statement);
    return wrapped;
  };
  const shared = new Proxy(d1, {
    get: (target, name) => {
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== 'function') return own;
      const call = (...values: unknown[]) => Reflect.apply(own, target, values);
      if (name === 'prepare') return (sql: string) => wrap({ statement: call(sql), sql, values: [] });
      if (name !== 'batch') return call;
      return (statements: D1PreparedStatement[]) =>
        call(statements.map((statement) => originals.get(statement) ?? statement));
    },
  });
  SHARING.add(shared);
  return shared;
}
