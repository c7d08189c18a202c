import Papa from 'papaparse';
import type { Fault } from '#http';
import type { ConversionMeaning, SchemaVersion } from '#skan';

// The meanings of conversion values as lines of text, as people have them in a spreadsheet: a value, its event, and its lowest and highest revenue.

/** What a version's fine values mean, one per line: `20,purchase,0.99,4.99`. */
export const fineLines = ({ fine }: SchemaVersion): string => toLines(Object.entries(fine).map(toCells));

/** The same of coarse values, after the window and the value: `1,high,purchase,5,50`. */
export const coarseLines = ({ coarse }: SchemaVersion): string =>
  toLines(
    Object.entries(coarse).flatMap(([window, values]) =>
      Object.entries(values ?? {}).flatMap(([value, meaning]) =>
        meaning ? [[window, ...toCells([value, meaning])]] : [],
      ),
    ),
  );

const toLines = (rows: string[][]): string => Papa.unparse(rows, { newline: '\n' });

function toCells([value, { event, revenue_min, revenue_max }]: [string, ConversionMeaning]): string[] {
  const revenue = revenue_max === 0 ? [] : [String(revenue_min), String(revenue_max)];
  return [value, ...(event === null && revenue.length === 0 ? [] : [event ?? '']), ...revenue];
}

/** What fields of a meaning are called on the page. */
const LABELS: Readonly<Record<string, string>> = {
  event: 'event',
  revenue_min: 'lowest revenue',
  revenue_max: 'highest revenue',
};

/** One of the form's fields of lines. Values are the first cells of its lines, joined by points as in the paths of the team API's faults. */
type LinesOf = { field: 'fine' | 'coarse'; first: number; value: RegExp; mustBegin: string };

const FINE: LinesOf = {
  field: 'fine',
  first: 1,
  value: /^(?:\d|[1-5]\d|6[0-3])$/,
  mustBegin: 'must begin with a value from 0 to 63',
};
const COARSE: LinesOf = {
  field: 'coarse',
  first: 2,
  value: /^[123]\.(?:low|medium|high)$/,
  mustBegin: 'must begin with a window from 1 to 3, and low, medium or high',
};

/** Spreadsheets copy tabs between cells, and export commas or semicolons. A first cell has none of them. */
function cellsOf(line: string): string[] {
  const delimiter = /[\t;,]/.exec(line)?.[0] ?? ',';
  return (Papa.parse<string[]>(line, { delimiter }).data[0] ?? []).map((cell) => cell.trim());
}

function read({ field, first, value: form, mustBegin }: LinesOf, text: string) {
  const meanings: Record<string, Record<string, string>> = {};
  const lineOf = new Map<string, number>();
  const faults: Fault[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const cells = cellsOf(line);
    const value = cells.slice(0, first).join('.').toLowerCase();
    const [event, revenue_min, revenue_max, ...more] = cells.slice(first);
    const known = lineOf.get(value);
    const fault = !form.test(value)
      ? mustBegin
      : known !== undefined
        ? `has the value of line ${known} again`
        : more.length > 0 &&
          'has too many cells: after the value, an event and two amounts with decimal points';
    if (fault) {
      faults.push({ path: field, message: `line ${index + 1}: ${fault}` });
    } else {
      lineOf.set(value, index + 1);
      const named = Object.entries({ event, revenue_min, revenue_max });
      meanings[value] = Object.fromEntries(named.flatMap(([name, cell]) => (cell ? [[name, cell]] : [])));
    }
  }
  /** A fault of the schema, at its line; null for one of another field. */
  const locate = ({ path, message }: Fault): Fault | null => {
    if (!path.startsWith(`${field}.`)) return null;
    const [, value = '', name = ''] = /^\w+\.(.*)\.(\w+)$/.exec(path) ?? [];
    const said = message.replace(/revenue_\w+/, (found) => `the ${LABELS[found] ?? found}`);
    return { path: field, message: `line ${lineOf.get(value)}: ${LABELS[name] ?? name} ${said}` };
  };
  return { meanings, faults, locate };
}

export const readFineLines = (text: string) => read(FINE, text);

export function readCoarseLines(text: string) {
  const { meanings, ...rest } = read(COARSE, text);
  const entries = Object.entries(meanings);
  const windows = new Set(entries.map(([value]) => value.charAt(0)));
  const ofWindow = (window: string) =>
    Object.fromEntries(
      entries.flatMap(([value, meaning]) => (value.startsWith(window) ? [[value.slice(2), meaning]] : [])),
    );
  return { ...rest, meanings: Object.fromEntries([...windows].map((one) => [one, ofWindow(one)])) };
}
