// The limits that D1 has in production and its local simulation does not enforce.

const MAX_PARAMETERS = 100;
const MAX_SQL_BYTES = 100_000;
const MAX_VALUE_BYTES = 2_000_000;
/** D1 has no documented limit for an answer; a query's memory is limited, and the isolate that takes it shares 128 MB. */
const MAX_ANSWER_BYTES = 10_000_000;
const MAX_ANSWER_ROWS = 10_000;

const bytesOf = (value: unknown) => (typeof value === 'string' ? new TextEncoder().encode(value).length : 8);

function checkAnswer(sql: string, rows: readonly unknown[]): void {
  if (rows.length > MAX_ANSWER_ROWS) throw new Error(`${rows.length} rows answer: ${sql}`);
  const bytes = rows.reduce<number>(
    (sum, row) => sum + Object.values(row as object).reduce<number>((own, value) => own + bytesOf(value), 0),
    0,
  );
  if (bytes > MAX_ANSWER_BYTES) throw new Error(`${bytes} bytes answer: ${sql}`);
}

/** A D1 that refuses what production would refuse. */
export class LimitedD1 {
  /** How many statements were run. */
  queries = 0;
  private readonly real: D1Database;
  private readonly originals = new WeakMap<object, { statement: D1PreparedStatement; sql: string }>();

  constructor(real: D1Database) {
    this.real = real;
  }

  asBinding(): D1Database {
    return this as unknown as D1Database;
  }

  prepare(sql: string): D1PreparedStatement {
    if (bytesOf(sql) > MAX_SQL_BYTES) throw new Error(`${sql.length} characters of SQL`);
    return this.watch(this.real.prepare(sql), sql);
  }

  async batch(statements: D1PreparedStatement[]): Promise<D1Result[]> {
    const own = statements.map((one) => this.originals.get(one) ?? { statement: one, sql: '' });
    this.queries += own.length;
    const answers = await this.real.batch<unknown>(own.map(({ statement }) => statement));
    for (const [index, { results }] of answers.entries()) checkAnswer(own[index]?.sql ?? '', results);
    return answers;
  }

  private watch(statement: D1PreparedStatement, sql: string): D1PreparedStatement {
    const run = async <Answer>(
      ask: () => Promise<Answer>,
      rowsOf: (answer: Answer) => readonly unknown[],
    ) => {
      this.queries++;
      const answer = await ask();
      checkAnswer(sql, rowsOf(answer));
      return answer;
    };
    const watched = {
      bind: (...values: unknown[]) => {
        if (values.length > MAX_PARAMETERS) throw new Error(`${values.length} parameters: ${sql}`);
        for (const value of values) {
          if (bytesOf(value) > MAX_VALUE_BYTES) throw new Error(`a value of ${bytesOf(value)} bytes: ${sql}`);
        }
        return this.watch(statement.bind(...values), sql);
      },
      all: () =>
        run(
          () => statement.all(),
          ({ results }) => results,
        ),
      run: () =>
        run(
          () => statement.run(),
          ({ results }) => results,
        ),
      raw: () =>
        run(
          () => statement.raw(),
          (rows) => rows,
        ),
      first: () =>
        run(
          () => statement.first(),
          (row) => (row === null ? [] : [row]),
        ),
    } as unknown as D1PreparedStatement;
    this.originals.set(watched, { statement, sql });
    return watched;
  }
}
