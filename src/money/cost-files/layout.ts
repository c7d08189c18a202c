import { COST_DIMENSIONS, ofDimensions } from '#catalogue';
import type { Fault } from '#http';
import { isCurrencyOfAnyDay } from '#lib/currencies';
import {
  COST_FORMATS,
  COUNTRY_HEADINGS,
  type CostColumns,
  type CostField,
  type CostFormat,
  definitionOf,
} from './formats/index.ts';

// Which column of a file is which. Pure.

/** Which column holds each field, by its heading: for files of no known format. */
export type CostMap = Partial<Record<CostField, string>>;

export type Layout = {
  /** Null if a person said which column is which. */
  format: CostFormat | null;
  /** The network whose export it is, if no other one fits as well. */
  network: string | null;
  /** The index of each field's column. */
  at: Partial<Record<CostField, number>>;
  /** The currency in the heading of the amount. */
  currency: string | null;
};

export const COST_FIELDS: readonly CostField[] = [
  ...(['date', 'start', 'end', 'campaign', 'adset', 'creative', 'currency', 'amount'] as const),
  ...(['impressions', 'clicks'] as const),
  ...COST_DIMENSIONS,
];

/** Exports with such a column added to them have it under our name. */
const OWN_DIMENSIONS: CostColumns = {
  ...ofDimensions(COST_DIMENSIONS, (name) => [name]),
  country: COUNTRY_HEADINGS,
};

/** Lower case in every language, and one form of what is written in several: spaces, underscores, apostrophes, accents. */
export const plainHeading = (text: string) =>
  text
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u02BC]/g, "'")
    .replace(/[\u200E\u200F\u061C\uFEFF]/g, '')
    .replace(/[\s_]+/g, ' ')
    .trim()
    .toLowerCase()
    .replaceAll('ё', 'е')
    // What lower case leaves of the dotted capital I.
    .replaceAll('i\u0307', 'i');

const WITH_CURRENCY = /^(.*\S)\s*(?:\(([a-z]{3})\)|\[([a-z]{3})\]|[-–,]?\s([a-z]{3}))$/;

/** A heading of an amount without the currency in it. */
function splitCurrency(heading: string): { name: string; currency: string | null } {
  const [, name = '', ...codes] = WITH_CURRENCY.exec(heading) ?? [];
  const currency = codes.find((code) => code !== undefined && isCurrencyOfAnyDay(code)) ?? null;
  return currency === null ? { name: heading, currency } : { name: name.replace(/\s*[-–,]$/, ''), currency };
}

type Reading = Pick<Layout, 'at' | 'currency'>;

/** Finds the columns under the headings that may hold each field. A column holds one field. */
function readColumns(columns: CostColumns, headings: readonly string[]): Reading {
  const reading: Reading = { at: {}, currency: null };
  const used = new Set<number>();
  for (const field of COST_FIELDS) {
    for (const name of columns[field] ?? OWN_DIMENSIONS[field] ?? []) {
      const known = plainHeading(name);
      const index = headings.findIndex(
        (heading, at) =>
          !used.has(at) &&
          (heading === known || (field === 'amount' && splitCurrency(heading).name === known)),
      );
      if (index < 0) continue;
      reading.at[field] = index;
      used.add(index);
      break;
    }
  }
  reading.currency = splitCurrency(headings[reading.at.amount ?? -1] ?? '').currency;
  return reading;
}

/** What every row needs. A day may also be given as the start and end of a row's period. */
export function missingFields({ at }: Pick<Layout, 'at'>): string[] {
  const missing: string[] = (['campaign', 'amount'] as const).filter((field) => at[field] === undefined);
  const hasDay = at.date !== undefined || (at.start !== undefined && at.end !== undefined);
  return hasDay ? missing : ['date', ...missing];
}

/** A mark of a network tells more than a field. A format with marks, of which a file has none, is less likely than one without. */
const MARK = 2;

/**
 * The reading of a line as headings in which the fewest required fields are missing and, among those, the most is found. `isBelowTitle`: whether
 * lines of text stand before it.
 */
export function readLayout(cells: readonly string[], isBelowTitle: boolean): Layout {
  const headings = cells.map(plainHeading);
  const layouts = (Object.keys(COST_FORMATS) as CostFormat[]).map((format) => {
    const { columns, marks, isTitled } = definitionOf(format);
    const reading = readColumns(columns, headings);
    const found = marks?.filter((mark) => headings.includes(mark)).length ?? 0;
    const score =
      Object.keys(reading.at).length +
      (marks === undefined ? 0 : found > 0 ? MARK : -1) +
      (isTitled && isBelowTitle ? 1 : 0);
    return { ...reading, format, score, missing: missingFields(reading).length };
  });
  const [best, next] = layouts.sort(
    (left, right) => left.missing - right.missing || right.score - left.score,
  );
  if (!best) throw new Error('there is no format');
  const isOnly = next === undefined || best.missing < next.missing || best.score > next.score;
  return {
    format: best.format,
    network: (isOnly && definitionOf(best.format).network) || null,
    at: best.at,
    currency: best.currency,
  };
}

/** The layout that a person gave; null for a line that lacks one of the headings. What they did not name is read under our own names. */
export function readMapped(cells: readonly string[], map: CostMap): Layout | null {
  const headings = cells.map(plainHeading);
  const named = Object.entries(map).map(([field, heading]) => [field, [heading]]);
  const layout = readColumns({ ...COST_FORMATS.own.columns, ...Object.fromEntries(named) }, headings);
  const isComplete = (Object.keys(map) as CostField[]).every((field) => layout.at[field] !== undefined);
  return isComplete ? { ...layout, format: null, network: null } : null;
}

const FIELDS: ReadonlySet<string> = new Set(COST_FIELDS);
/** What people may call the day as well. */
const ALIASES: Readonly<Record<string, string>> = {
  day: 'date',
  spend: 'amount',
  cost: 'amount',
  ad: 'creative',
};

/** Which column is which, from texts such as `date=Päivä`. Null if there is none. */
export function parseCostMap(texts: readonly string[]): { map: CostMap | null; faults: Fault[] } {
  const faults: Fault[] = [];
  const map: Record<string, string> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    const name = text.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const field = ALIASES[name] ?? name;
    const heading = text.slice(at + 1).trim();
    if (at < 0 || !FIELDS.has(field) || heading === '') {
      faults.push({
        path: 'map',
        message: `must be a field and a heading, such as date=Päivä, not "${text}"`,
      });
    } else map[field] = heading;
  }
  return { map: texts.length === 0 ? null : map, faults };
}
