import Papa from 'papaparse';
import * as z from 'zod';
import { COST_DIMENSIONS } from '#catalogue';
import { currencyCode, type Fault, requiredText } from '#http';
import { daysOf } from '#lib/calendar';
import { amountShares, wholeShares } from '#lib/shares';
import { isDay } from '#lib/time';
import {
  COST_LANGUAGES,
  type CostField,
  type CostFormat,
  type Layout,
  missingFields,
  readLayout,
} from './cost-headings.ts';

// Reads cost files as people have them: with our own columns, or as exported from an advertising network. Pure.

/** Some exports start with the report's name and dates. */
const MAX_LINES_BEFORE_HEADING = 10;
const MAX_HEADINGS_SHOWN = 12;
const MAX_SPREAD_DAYS = 366;

/**
 * Parses an amount as people and networks write it: `1,234.50`, `1.234,50`, `1 234,5`, `$12.30`. A single comma or point before three
 * digits, as in `1,234`, is ambiguous. Returns null for that, and for anything that is not an amount.
 */
export function parseAmount(text: string): number | null {
  const bare = text
    .trim()
    .replace(/^[^\d.,-]{1,3}\s?|\s?[^\d.,]{1,3}$/g, '')
    .replace(/[\s\u00A0\u202F']/g, '');
  if (/^\d+$/.test(bare)) return Number(bare);
  if (/^\d{1,3}([.,])\d{3}$/.test(bare)) return null;
  if (/^\d{1,3}(,\d{3})*\.\d+$/.test(bare) || /^\d+\.\d+$/.test(bare))
    return Number(bare.replaceAll(',', ''));
  if (/^\d{1,3}(\.\d{3})*,\d+$/.test(bare) || /^\d+,\d+$/.test(bare)) {
    return Number(bare.replaceAll('.', '').replace(',', '.'));
  }
  if (/^\d{1,3}([.,])\d{3}(\1\d{3})+$/.test(bare)) return Number(bare.replace(/[.,]/g, ''));
  return null;
}

/** Parses a count with thousands separators. Returns any other text unchanged, so that the schema reports the fault. */
const parseCount = (text: string) => {
  const bare = text.replace(/[\s\u00A0\u202F',.]/g, '');
  return /^\d+$/.test(bare) ? bare : text;
};

/** Accepts `2026-11-19T00:00:00Z`, `2026/11/19`, `19.11.2026` and `2026年11月19日` as days. Other orders would be guesses. */
function parseDate(text: string): string {
  const [, year, month, day] =
    /^(\d{4})[-/](\d{2})[-/](\d{2})/.exec(text) ?? /^(\d{4})年(\d{1,2})月(\d{1,2})日$/.exec(text) ?? [];
  if (year && month && day) return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return /^\d{2}\.\d{2}\.\d{4}$/.test(text) ? text.split('.').reverse().join('-') : text;
}

/** A file's text, in UTF-8 or, with a byte order mark, in UTF-16. Null if it is neither. */
export function decodeCostFile(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}

type UploadedRow = Record<string, unknown>;
type Parsed = {
  format: CostFormat | null;
  rows: UploadedRow[];
  /** The line of the file that each row came from. */
  lines: number[];
  faults: Fault[];
};

/** How to read what a file leaves open. */
export type CostFileOptions = {
  /** For files that name no currency. */
  currency: string;
  /** Whether a row that covers several days is spread evenly over them. Otherwise it is refused. */
  spread: boolean;
};

/** Query of `PUT /v1/costs/file`. */
export const CostFileQuery = z.object({
  application_id: requiredText(128),
  /** The application's currency by default. */
  currency: currencyCode().optional(),
  spread: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
});

function findHeading(data: readonly string[][]): { index: number; layout: Layout } | Fault {
  const candidates = data.slice(0, MAX_LINES_BEFORE_HEADING).flatMap((cells, index) => {
    const layout = readLayout(cells);
    return layout ? [{ index, layout, missing: missingFields(layout), cells }] : [];
  });
  const complete = candidates.find(({ missing }) => missing.length === 0);
  if (complete) return complete;
  const [nearest] = candidates.sort(
    (left, right) => left.missing.length - right.missing.length || right.cells.length - left.cells.length,
  );
  const { cells = [], missing = ['date', 'campaign', 'amount'] } = nearest ?? {};
  const isHalfRange = nearest && (nearest.layout.at.start ?? nearest.layout.at.end) !== undefined;
  const found = cells.filter((cell) => cell.trim() !== '').map((cell) => `“${cell.trim()}”`);
  const shown =
    found.slice(0, MAX_HEADINGS_SHOWN).join(', ') + (found.length > MAX_HEADINGS_SHOWN ? ', …' : '');
  return {
    path: 'The header line',
    message: [
      `has no column for ${missing.join(', ')}${isHalfRange ? ': export by day' : ''}.`,
      found.length > 0 ? `It has: ${shown}.` : 'It is empty.',
      `Exports are read in ${COST_LANGUAGES}; in other languages, rename the columns to date, campaign, adset, creative, ${COST_DIMENSIONS.join(', ')}, currency, amount, impressions, clicks.`,
    ].join(' '),
  };
}

/** Parses the text of a cost file, with commas, semicolons or tabs. Summary rows, which have no date, are skipped. Faults name the line. */
export function parseCostFile(text: string, { currency, spread }: CostFileOptions): Parsed {
  const { data } = Papa.parse<string[]>(text.replace(/^\uFEFF/, '').trimEnd(), { skipEmptyLines: false });
  const heading = findHeading(data);
  if (!('layout' in heading)) return { format: null, rows: [], lines: [], faults: [heading] };
  const { format, at, currency: ofHeading } = heading.layout;
  const result: Parsed = { format, rows: [], lines: [], faults: [] };
  for (const [index, cells] of data.entries()) {
    if (index <= heading.index || cells.every((cell) => cell.trim() === '')) continue;
    const cell = (field: CostField) => (at[field] === undefined ? '' : (cells[at[field]]?.trim() ?? ''));
    const refuse = (message: string) => result.faults.push({ path: `Line ${index + 1}:`, message });
    const start = cell('date') || cell('start');
    if (format !== 'own' && isSummary(start)) continue;
    if (cells.length > (data[heading.index]?.length ?? 0)) {
      refuse('has more fields than the header line');
      continue;
    }
    const written = cell('amount');
    const amount = parseAmount(written);
    if (amount === null) {
      refuse(written === '' ? 'amount is required' : `amount must be a number, not "${written}"`);
      continue;
    }
    const days = daysOfRow(parseDate(start), parseDate(at.date === undefined ? cell('end') : start), spread);
    if (typeof days === 'string') {
      refuse(days);
      continue;
    }
    const names = (['campaign', 'adset', 'creative', ...COST_DIMENSIONS] as const).flatMap((field) =>
      cell(field) === '' || cell(field) === '--' ? [] : [[field, cell(field)]],
    );
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
        currency: cell('currency') || ofHeading || currency,
        amount: ofDay,
        ...Object.fromEntries(names),
        ...Object.fromEntries(counts.map(([field, shares]) => [field, String(shares[share])])),
      });
      result.lines.push(index + 1);
    }
  }
  return result;
}

const isSummary = (date: string) =>
  date === '' || /^(?:total|gesamt|totale|toplam|razem|合計)\b/iu.test(date);

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
