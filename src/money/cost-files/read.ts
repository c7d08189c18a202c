import { COST_DIMENSIONS } from '#catalogue';
import type { Fault } from '#http';
import { daysOf } from '#lib/calendar';
import { toNanos } from '#lib/money';
import { amountShares, wholeShares } from '#lib/shares';
import { isDay } from '#lib/time';
import { type DecimalStyle, findStyle, isBlank, parseAmount, parseCount, readWritten } from './amounts.ts';
import { readCountry } from './countries.ts';
import { type DayOrder, findDayOrder, parseDate } from './dates.ts';
import type { CostField, CostFormat } from './formats/index.ts';
import { type CostMap, type Layout, plainHeading } from './layout.ts';
import { readTable } from './table.ts';
import { isTotalDay, isTotalLabel, type RowFacts, sumUnder, totalReason } from './totals.ts';

// Reads cost files as people have them: with our own columns, or as exported from an advertising network. Pure.

const MAX_SPREAD_DAYS = 366;
/** Of a heading in an answer. */
const MAX_HEADING = 128;
const NAMES = ['campaign', 'adset', 'creative'] as const;

/** A line that is not stored, and why. */
type SkippedLine = { line: number; reason: string };

/** A row as `PUT /v1/costs` takes it. */
export type UploadedRow = Record<string, unknown>;
export type ParsedCosts = {
  /** Null if the headings are of no known format. */
  format: CostFormat | null;
  /** The network whose export it is. */
  network: string | null;
  /** The lines below the headings that are not empty. */
  read: number;
  rows: UploadedRow[];
  /** The line of the file that each row came from. */
  lines: number[];
  skipped: SkippedLine[];
  /** The headings of columns of which nothing is stored. */
  ignored: string[];
  faults: Fault[];
  /** The headings, if nobody knows what they mean. */
  unknownHeadings: readonly string[] | null;
};

/** How to read what a file leaves open. */
export type CostFileOptions = {
  /** For files that name no currency. */
  currency: string;
  /** Whether a row that covers several days is spread evenly over them. Otherwise it is refused. */
  spread: boolean;
  /** Which column is which, if no format knows the headings. */
  map?: CostMap | null;
};

type Line = { number: number; cells: readonly string[] };
type ReadCell = (field: CostField) => string;
type Style = { decimals: DecimalStyle; days: DayOrder };

const cellOf =
  ({ at }: Layout, { cells }: Line): ReadCell =>
  (field) => {
    const text = at[field] === undefined ? '' : (cells[at[field]]?.trim() ?? '');
    return isBlank(text) && field !== 'amount' ? '' : text;
  };

/** The first day of a row, of files with days and of those with periods. */
const dayCell = ({ at }: Layout, cell: ReadCell) => cell(at.date === undefined ? 'start' : 'date');

/** What a file shows of how it writes amounts and days. */
function findStyles(layout: Layout, lines: readonly Line[]): Style {
  const texts = (field: CostField) => lines.map((line) => cellOf(layout, line)(field));
  return {
    decimals: findStyle(texts('amount')),
    days: findDayOrder([...texts('date'), ...texts('start'), ...texts('end')]),
  };
}

type Money = { amount: number; currency: string };

/** The amount of a row and its currency, or why there is none. */
function readMoney(
  cell: ReadCell,
  { currency: ofHeading }: Layout,
  style: Style,
  fallback: string,
): Money | string {
  const written = cell('amount');
  const { currency: beside, shared } = readWritten(written);
  const stated = cell('currency') || ofHeading;
  if (beside !== null && stated && stated.toLowerCase() !== beside) {
    return `amount is in ${beside.toUpperCase()}, but currency is ${stated.toUpperCase()}`;
  }
  const currency = stated || beside || fallback;
  if (shared && !shared.currencies.includes(currency.toLowerCase())) {
    const [first, second] = shared.currencies.map((code) => code.toUpperCase());
    return stated
      ? `amount is in ${shared.sign}, but currency is ${stated.toUpperCase()}`
      : `amount "${written}" is in ${shared.sign}, such as ${first} or ${second}, and not in ${fallback.toUpperCase()}: add a column currency, or say the currency of the file`;
  }
  if (written !== '' && isBlank(written)) return { amount: 0, currency };
  const amount = parseAmount(written, { style: style.decimals, currency });
  if (amount !== null) return { amount, currency };
  return written === '' ? 'amount is required' : `amount must be a number, not "${written}"`;
}

/** Whether only one cell of a line has text, and it is neither an amount nor a day: a title or a note below the rows. */
function isNote({ at }: Layout, { cells }: Line): boolean {
  const filled = cells.flatMap((cell, index) => (cell.trim() === '' ? [] : [index]));
  const [only = 0] = filled;
  return filled.length === 1 && only !== at.amount && !isDay(parseDate(cells[only] ?? ''));
}

type TotalCell = 'label' | 'unnamed' | 'undated' | null;

/** How much a line looks like the sum of others: by its label; by having neither day nor name; or only by having no day. */
function totalSign(layout: Layout, cell: ReadCell, { cells }: Line): TotalCell {
  const day = dayCell(layout, cell);
  const isDated = isDay(parseDate(day)) || /^\d/.test(day);
  const isLabelled =
    (!isDated && isTotalDay(day)) ||
    NAMES.some((name) => isTotalLabel(cell(name))) ||
    (!isDated && cells.some((text) => isTotalLabel(text)));
  if (isLabelled) return 'label';
  const isNamed = NAMES.some((name) => cell(name) !== '');
  // The rows of a period without days repeat its ends in their total.
  if (!isNamed && (day === '' || layout.at.date === undefined)) return 'unnamed';
  return day === '' && layout.format !== 'own' ? 'undated' : null;
}

const factsOf = (
  layout: Layout,
  cell: ReadCell,
  currency: string,
  parse: (text: string) => string,
): string[] => {
  const day = parse(dayCell(layout, cell));
  return [
    isDay(day) ? day : '',
    ...NAMES.map((name) => (isTotalLabel(cell(name)) ? '' : cell(name))),
    currency.toLowerCase(),
  ];
};

/** Parses the text of a cost file, with commas, semicolons, tabs or pipes, or the cells of a spreadsheet. Totals are compared, and skipped. Faults name the line. */
export function parseCostFile(
  source: string | readonly (readonly string[])[],
  { currency: fallback, spread, map = null }: CostFileOptions,
): ParsedCosts {
  const table = readTable(source, map);
  const result: ParsedCosts = {
    ...{ format: null, network: null, read: 0, rows: [], lines: [], skipped: [], ignored: [], faults: [] },
    unknownHeadings: null,
  };
  if ('fault' in table) {
    return { ...result, faults: [table.fault], unknownHeadings: table.headings };
  }
  const { layout, heading } = table;
  const read = new Set(Object.values(layout.at));
  Object.assign(result, {
    ...{ format: layout.format, network: layout.network },
    ignored: (table.cells[heading] ?? []).flatMap((text, at) =>
      read.has(at) || text.trim() === ''
        ? []
        : [
            text
              .replace(/^\uFEFF/, '')
              .trim()
              .slice(0, MAX_HEADING),
          ],
    ),
  });
  const headings = table.cells[heading]?.map(plainHeading) ?? [];
  const lines = table.cells.flatMap((cells, index): Line[] =>
    index <= heading || cells.every((cell) => cell.trim() === '') ? [] : [{ number: index + 1, cells }],
  );
  result.read = lines.length;
  const style = findStyles(layout, lines);
  const dayOf = (text: string) => parseDate(text, style.days);
  const facts: RowFacts[] = [];
  const totals: { line: Line; cell: ReadCell; sign: TotalCell }[] = [];
  const skip = ({ number }: Line, reason: string) => result.skipped.push({ line: number, reason });
  const refuse = ({ number }: Line, message: string) =>
    result.faults.push({ path: `Line ${number}:`, message });

  const readLine = (line: Line, cell: ReadCell) => {
    if (line.cells.slice(headings.length).some((text) => text.trim() !== '')) {
      return refuse(line, 'has more fields than the header line');
    }
    const isEmpty = layout.format !== 'own' && cell('amount') === '';
    const money = readMoney(
      isEmpty ? (field) => (field === 'amount' ? '--' : cell(field)) : cell,
      layout,
      style,
      fallback,
    );
    if (typeof money === 'string') return refuse(line, money);
    const start = dayOf(dayCell(layout, cell));
    const days = daysOfRow(start, layout.at.date === undefined ? dayOf(cell('end')) : start, spread);
    if (typeof days === 'string') return refuse(line, days);
    facts.push({ values: factsOf(layout, cell, money.currency, dayOf), nanos: toNanos(money.amount) });
    addRows(result, line.number, days, { ...money, cell, network: layout.network });
  };

  for (const line of lines) {
    const cell = cellOf(layout, line);
    const sign = totalSign(layout, cell, line);
    if (
      line.cells.length === headings.length &&
      line.cells.every((text, at) => plainHeading(text) === headings[at])
    ) {
      skip(line, 'repeats the headings');
    } else if (isNote(layout, line)) skip(line, 'is a line of text');
    else if (sign !== null) totals.push({ line, cell, sign });
    else readLine(line, cell);
  }
  for (const { line, cell, sign } of totals) {
    const written = cell('amount');
    const money = isBlank(written) ? null : readMoney(cell, layout, style, fallback);
    if (money === null) {
      if (sign === 'undated') refuse(line, 'date is required');
      else skip(line, 'has neither a day nor an amount');
      continue;
    }
    if (typeof money === 'string') {
      refuse(line, money);
      continue;
    }
    const hasCurrency = cell('currency') !== '' || layout.currency !== null;
    const sum = sumUnder(factsOf(layout, cell, hasCurrency ? money.currency : '', dayOf), facts);
    const isEqual = sum.rows > 0 && sum.nanos === toNanos(money.amount);
    if (isEqual || (sign !== 'undated' && !isDay(dayOf(dayCell(layout, cell)))))
      skip(line, totalReason(money.amount, sum.nanos));
    else if (sign === 'undated') refuse(line, 'date is required');
    else if (sign === 'unnamed') skip(line, totalReason(money.amount, sum.nanos));
    // A campaign of this name that spent another amount than all of the day's.
    else readLine(line, cell);
  }
  result.skipped.sort((left, right) => left.line - right.line);
  return result;
}

type CountedRow = Money & { cell: ReadCell; network: string | null };

/** Adds the row of each of a line's days. */
function addRows(result: ParsedCosts, line: number, days: readonly string[], row: CountedRow): void {
  const { amount, currency, cell, network } = row;
  const names = [...NAMES, ...COST_DIMENSIONS].flatMap((field) => {
    const text = field === 'country' ? readCountry(cell(field)) : cell(field);
    return text === '' ? [] : [[field, text]];
  });
  const counts = (['impressions', 'clicks'] as const).flatMap((field): [string, (number | string)[]][] => {
    const count = parseCount(cell(field));
    if (count === '') return [];
    return [
      [field, /^\d{1,15}$/.test(count) ? wholeShares(Number(count), days.length) : days.map(() => count)],
    ];
  });
  for (const [share, ofDay] of amountShares(amount, days.length).entries()) {
    result.rows.push({
      date: days[share],
      currency,
      amount: ofDay,
      ...(network === null ? {} : { network }),
      ...Object.fromEntries(names),
      ...Object.fromEntries(counts.map(([field, shares]) => [field, String(shares[share])])),
    });
    result.lines.push(line);
  }
}

/** The days that a row covers, or why it is refused. A date that is not one is left to the schema. */
function daysOfRow(start: string, end: string, spread: boolean): string[] | string {
  if (start === end || !isDay(start) || !isDay(end)) return [start];
  if (!spread) {
    return `covers ${start} to ${end}: export by day, or choose to spread each row evenly over its days`;
  }
  const days = daysOf(start, end);
  if (days.length === 0) return `ends on ${end}, before it starts on ${start}`;
  return days.length > MAX_SPREAD_DAYS ? `covers more than ${MAX_SPREAD_DAYS} days` : days;
}
