import Papa from 'papaparse';
import { METRICS } from '#catalogue';
import type { Tenant } from '../../helpers/tenant.ts';
import type { TestWorker } from '../../helpers/worker.ts';
import { type Columns, type Expected, keyOf } from './expected.ts';
import { clientTotals, compare, funnel, ltv, ofKinds, predictedLtv, retention } from './expected-devices.ts';
import { ads, performance } from './expected-events.ts';
import { nameQuestion, type Question, queryOf, SPANS, type World } from './question.ts';

// Asks a question as JSON and as CSV, and says where the answers differ from what they must be.

type Fields = Record<string, unknown>;
type Answer = Fields & { data: Fields[] };

const COUNTS: Record<Question['report'], (world: World, question: Question) => Expected> = {
  performance,
  ads,
  retention,
  ltv,
  funnel,
  compare,
  'client-totals': clientTotals,
  'predicted-ltv': predictedLtv,
};

/** Equal as floating-point numbers are: amounts are rounded to a nano once, in either way of counting. */
const isSame = (actual: unknown, expected: unknown): boolean =>
  typeof expected === 'number' && typeof actual === 'number'
    ? Math.abs(actual - expected) < 1e-9 * Math.max(1, Math.abs(expected))
    : actual === expected;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Where a value differs, by path. An expected `undefined` is a field that must be missing. */
function differ(actual: unknown, expected: unknown, path: string): string[] {
  if (Array.isArray(expected) && Array.isArray(actual) && actual.length !== expected.length)
    return [`${path}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(actual)}`];
  if (isFields(expected) && isFields(actual))
    return Object.keys(expected).flatMap((name) => differ(actual[name], expected[name], `${path} ${name}`));
  return isSame(actual, expected)
    ? []
    : [`${path}: expected ${JSON.stringify(expected)}, was ${JSON.stringify(actual)}`];
}

/** A row in which nothing was counted says nothing, so it may be missing. */
const isEmpty = (figures: Fields): boolean =>
  Object.values(figures).every((value) => value === 0 || value === null || value === undefined);

/** The rows of an answer with the columns that name them in what is expected. */
function comparable({ report }: Question, { data, ...rest }: Answer): Answer {
  if (report === 'funnel') {
    const seen = new Map<string, number>();
    const rows = data.map((row) => {
      const { step: _, devices, from_first, from_previous, median_seconds, ...group } = row;
      const at = seen.get(JSON.stringify(group)) ?? 0;
      seen.set(JSON.stringify(group), at + 1);
      return { ...row, at };
    });
    return { ...rest, data: rows };
  }
  if (report !== 'client-totals') return { ...rest, data };
  const gapOf = ({ kind, currency, gap }: Fields) => ({ kind, currency, gap: Number(gap).toFixed(6) });
  const groups = Map.groupBy(data, (row) => JSON.stringify(gapOf(row)));
  const rows = [...groups.values()].map((own) => ({ ...gapOf(own[0] ?? {}), devices: own.length }));
  return { ...rest, totals: ofKinds(rest.totals as Fields[]), data: rows };
}

/** Figures whose sum over rows is that of all that the rows count. A row without one adds nothing. */
const ADDITIVE = new Set([
  ...Object.entries(METRICS).flatMap(([name, { kind }]) => (kind === 'sum' ? [name] : [])),
  ...['size', 'eligible', 'active', 'purchase_revenue'],
]);
/** Each row is rounded to a nano. */
const ROUNDED = 1e-6;

/** Adds up the additive figures of rows, of each day of a cohort by itself. */
function sumOf(rows: readonly Fields[]): Fields {
  const sums: Fields = {};
  for (const row of rows)
    for (const [name, value] of Object.entries(row)) {
      if (name === 'days')
        sums.days = Object.fromEntries(
          Object.keys(value as Fields).map((day) => [
            day,
            sumOf(rows.map((own) => (own.days as Fields)[day] as Fields)),
          ]),
        );
      else if (ADDITIVE.has(name))
        sums[name] = value === null ? (sums[name] ?? null) : Number(sums[name] ?? 0) + Number(value);
    }
  return sums;
}

/** Where the row of the rest differs from the sum of the rows that are not shown. */
function differOfRest(rest: Fields | undefined, hidden: readonly Fields[], path = 'other'): string[] {
  if (!rest) return hidden.every(isEmpty) ? [] : [`${path}: is missing; ${hidden.length} rows are`];
  return Object.entries(sumOf(hidden)).flatMap(([name, sum]) => {
    const own = rest[name];
    if (name === 'days')
      return Object.entries(sum as Fields).flatMap(([day, days]) =>
        differOfRest((own as Fields)[day] as Fields, [days as Fields], `${path} day ${day}`),
      );
    const isClose =
      own === null || sum === null ? own === sum : Math.abs(Number(own) - Number(sum)) < ROUNDED;
    return isClose ? [] : [`${path} ${name}: expected ${sum}, was ${own}`];
  });
}

/** Where a table with `limit` or `q` differs: each of its rows, how many there are, and the row of the rest. */
function differencesOfCut(question: Question, answer: Answer, { rows, rest }: Expected): string[] {
  const { limit = Number.POSITIVE_INFINITY, q = '' } = question;
  const isFound = ({ columns }: Expected['rows'][number]) =>
    Object.entries(columns).some(
      ([name, value]) =>
        !(name in SPANS) &&
        !name.endsWith('_id') &&
        String(value ?? '')
          .toLowerCase()
          .includes(q.toLowerCase()),
    );
  const wanted = rows.filter((row) => !isEmpty(row.figures) && (q === '' || isFound(row)));
  const shown = answer.data.filter((row) => !row.is_other);
  const others = answer.data.filter((row) => row.is_other);
  const names = Object.keys(rows[0]?.columns ?? {});
  const keys = new Set(
    shown.map((row) => keyOf(Object.fromEntries(names.map((name) => [name, row[name] ?? null])) as Columns)),
  );
  const [own, hidden] = [true, false].map((isShown) =>
    rows.filter(({ columns }) => keys.has(keyOf(columns)) === isShown),
  );
  const count = Math.min(limit, wanted.length);
  return [
    ...(shown.length === count ? [] : [`${shown.length} rows instead of ${count}`]),
    ...differ(answer.total_rows, wanted.length, 'total_rows'),
    ...differencesOfRows(question, { ...answer, data: shown }, { rows: own ?? [], rest }),
    ...differOfRest(
      others[0],
      (hidden ?? []).map(({ figures }) => figures),
    ),
  ];
}

function differencesOfJson(question: Question, answer: Answer, expected: Expected): string[] {
  const isWhole = question.limit === undefined && question.q === undefined;
  return (isWhole ? differencesOfRows : differencesOfCut)(question, answer, expected);
}

function differencesOfRows(question: Question, answer: Answer, expected: Expected): string[] {
  const { data, ...rest } = comparable(question, answer);
  const names = Object.keys(expected.rows[0]?.columns ?? {});
  const columnsOf = (row: Fields) =>
    Object.fromEntries(names.map((name) => [name, row[name] ?? null])) as Columns;
  const found = new Map(data.map((row) => [keyOf(columnsOf(row)), row]));
  const ofRows = expected.rows.flatMap(({ columns, figures }) => {
    const key = keyOf(columns);
    const row = found.get(key);
    found.delete(key);
    const group = JSON.stringify(columns);
    if (row) return differ(row, figures, group);
    return isEmpty(figures) ? [] : [`${group}: is missing; expected ${JSON.stringify(figures)}`];
  });
  const added = [...found.values()].map((row) => `a row that is not expected: ${JSON.stringify(row)}`);
  const repeated =
    new Set(data.map((row) => keyOf(columnsOf(row)))).size < data.length ? ['rows of the same group'] : [];
  return [...ofRows, ...added, ...repeated, ...differ(rest, expected.rest, 'the answer')];
}

/** What a cell of CSV must be. */
const cellOf = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

const HEADERS: Record<string, string> = {
  'X-Currency': 'currency',
  'X-Timezone': 'timezone',
  'X-Unconverted': 'unconverted',
  'X-Unallocated-Spend': 'unallocated_spend',
  'X-Rate-Day': 'rate_day',
  'X-Total-Rows': 'total_rows',
  'X-Devices-With-Incomplete-History': 'devices_with_incomplete_history',
};

function differencesOfCsv(answer: Answer, text: string, headers: Headers): string[] {
  const { data, meta } = Papa.parse<Record<string, string>>(text.replace(/^\ufeff/, ''), {
    header: true,
    skipEmptyLines: true,
  });
  const rows = answer.data.flatMap(({ days, ...row }) =>
    isFields(days)
      ? Object.entries(days).map(([day, values]) => ({ ...row, day, ...(values as Fields) }))
      : [row],
  );
  const differences = Object.entries(HEADERS).flatMap(([header, name]) =>
    differ(headers.get(header) ?? '', cellOf(answer[name]), `CSV header ${header}`),
  );
  if (data.length !== rows.length)
    return [...differences, `CSV has ${data.length} rows, JSON has ${rows.length}`];
  for (const [at, row] of rows.entries()) {
    const names = new Set([...Object.keys(row), ...(meta.fields ?? [])]);
    for (const name of names) {
      const path = `CSV row ${at + 1} ${name}`;
      differences.push(...differ(data[at]?.[name], cellOf((row as Fields)[name]), path));
    }
  }
  return differences;
}

/** What belongs to no row makes rows add up to their totals: see `additive.test.ts`. */
const withoutUnallocated = (answer: Answer): Answer => ({
  ...answer,
  data: answer.data.filter((row) => !row.is_unallocated),
});

/** Where the answers to a question, as JSON and as CSV, differ from the second count. */
export async function differencesOf(
  worker: TestWorker,
  tenant: Tenant,
  world: World,
  question: Question,
): Promise<string[]> {
  const asked = { ...world, currency: question.currency ?? world.currency };
  const path = `/v1/reports/${question.report}?application_id=${tenant.application.id}&${queryOf(question)}`;
  const said = (differences: string[]) => differences.map((one) => `${nameQuestion(question)}: ${one}`);
  const json = await worker.team(tenant, path);
  if (json.status !== 200) return said([`answered ${json.status} ${await json.text()}`]);
  const answer: Answer = await json.json();
  if (answer.uncounted !== 0) return said([`${answer.uncounted} events are not counted`]);
  const csv = await worker.team(tenant, `${path}&format=csv`);
  return said([
    ...differencesOfJson(question, withoutUnallocated(answer), COUNTS[question.report](asked, question)),
    ...differencesOfCsv(answer, await csv.text(), csv.headers),
  ]);
}
