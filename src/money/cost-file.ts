import Papa from 'papaparse';
import type { Fault } from '#http';

// Reads cost files as people have them: with our own columns, or as exported from an advertising network. Pure.

type Field = 'date' | 'campaign' | 'adset' | 'creative' | 'currency' | 'amount' | 'impressions' | 'clicks';
const FIELDS: readonly Field[] = [
  'date',
  'campaign',
  'adset',
  'creative',
  'currency',
  'amount',
  'impressions',
  'clicks',
];

type Format = {
  label: string;
  /** The columns that identify this format, and those that may hold each field: the first one present in the file is used. */
  columns: Record<Exclude<Field, 'currency'>, readonly string[]> & { currency: readonly string[] };
};

/**
 * Column headings of the networks' reports, in lower case. A currency in a heading, such as `Amount spent (EUR)`, is read too.
 * Sources: the networks' own help pages on exporting reports.
 */
export const COST_FORMATS = {
  own: {
    label: 'This service',
    columns: {
      date: ['date'],
      campaign: ['campaign'],
      adset: ['adset'],
      creative: ['creative'],
      currency: ['currency'],
      amount: ['amount'],
      impressions: ['impressions'],
      clicks: ['clicks'],
    },
  },
  meta: {
    label: 'Meta Ads',
    columns: {
      date: ['day', 'reporting starts'],
      campaign: ['campaign name'],
      adset: ['ad set name'],
      creative: ['ad name'],
      currency: ['currency', 'account currency'],
      amount: ['amount spent'],
      impressions: ['impressions'],
      clicks: ['link clicks', 'clicks (all)'],
    },
  },
  google: {
    label: 'Google Ads',
    columns: {
      date: ['day'],
      campaign: ['campaign'],
      adset: ['ad group'],
      creative: ['ad name', 'ad'],
      currency: ['currency code', 'currency'],
      amount: ['cost'],
      impressions: ['impr.', 'impressions'],
      clicks: ['clicks'],
    },
  },
  tiktok: {
    label: 'TikTok Ads',
    columns: {
      date: ['by day', 'date'],
      campaign: ['campaign name'],
      adset: ['ad group name'],
      creative: ['ad name'],
      currency: ['currency'],
      amount: ['cost', 'total cost'],
      impressions: ['impressions', 'impression'],
      clicks: ['clicks (destination)', 'clicks', 'click'],
    },
  },
  applovin: {
    label: 'AppLovin',
    columns: {
      date: ['day'],
      campaign: ['campaign'],
      adset: ['ad group', 'creative set'],
      creative: ['ad', 'creative'],
      currency: ['currency'],
      amount: ['cost', 'spend'],
      impressions: ['impressions'],
      clicks: ['clicks'],
    },
  },
  unity: {
    label: 'Unity Ads',
    columns: {
      date: ['timestamp', 'date'],
      campaign: ['campaign name'],
      adset: ['ad set name', 'target game name'],
      creative: ['creative pack name'],
      currency: ['currency'],
      amount: ['spend', 'cost'],
      impressions: ['views', 'starts', 'impressions'],
      clicks: ['clicks'],
    },
  },
} as const satisfies Record<string, Format>;
type CostFormat = keyof typeof COST_FORMATS;

const REQUIRED = ['date', 'campaign', 'amount'] as const;
/** Some exports start with the report's name and dates. */
const MAX_LINES_BEFORE_HEADING = 10;

/** `Amount spent (EUR)` is the column `amount spent` in EUR. */
function readHeading(text: string): { name: string; currency: string | null } {
  const name = text
    .replace(/^\uFEFF/, '')
    .trim()
    .toLowerCase();
  const match = /^(.*\S)\s*\(([a-z]{3})\)$/.exec(name);
  return match ? { name: match[1] ?? '', currency: match[2] ?? null } : { name, currency: null };
}

type Layout = { format: CostFormat; at: Partial<Record<Field, number>>; currency: string | null };

/** The format of a heading line: of those whose required columns are present, the one that recognizes the most columns. */
function readLayout(cells: readonly string[]): Layout | null {
  const headings = cells.map(readHeading);
  const layouts = Object.entries(COST_FORMATS).flatMap(([format, { columns }]) => {
    const at: Layout['at'] = {};
    for (const field of FIELDS) {
      const names: readonly string[] = columns[field];
      const index = names
        .map((name) => headings.findIndex((heading) => heading.name === name))
        .find((found) => found >= 0);
      if (index !== undefined) at[field] = index;
    }
    if (REQUIRED.some((field) => at[field] === undefined)) return [];
    const currency = headings[at.amount ?? -1]?.currency ?? null;
    return [{ format: format as CostFormat, at, currency }];
  });
  return layouts.sort((left, right) => Object.keys(right.at).length - Object.keys(left.at).length)[0] ?? null;
}

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

/** Accepts `2026-11-19T00:00:00Z` and `2026/11/19` as days. Other orders would be guesses. */
const parseDate = (text: string) => /^\d{4}[-/]\d{2}[-/]\d{2}/.exec(text)?.[0].replaceAll('/', '-') ?? text;

export type CostFile = {
  format: CostFormat | null;
  rows: Record<string, unknown>[];
  /** The line of the file that each row came from. */
  lines: number[];
  faults: Fault[];
};

/**
 * Parses a file of costs, as CSV with commas, semicolons or tabs. `currency` applies to files that name none. Summary rows, which have no
 * date, are skipped. Faults name the line.
 */
export function parseCostFile(text: string, currency: string): CostFile {
  const { data } = Papa.parse<string[]>(text.trim(), { skipEmptyLines: false });
  const start = data
    .slice(0, MAX_LINES_BEFORE_HEADING)
    .map((cells, index) => ({ index, layout: readLayout(cells) }))
    .find(({ layout }) => layout !== null);
  if (!start?.layout) {
    const message = 'needs the columns date, campaign and amount, or those of a network’s export';
    return { format: null, rows: [], lines: [], faults: [{ path: 'The header line', message }] };
  }
  const { format, at, currency: ofHeading } = start.layout;
  const faults: Fault[] = [];
  const rows: Record<string, unknown>[] = [];
  const lines: number[] = [];
  for (const [index, cells] of data.entries()) {
    if (index <= start.index || cells.every((cell) => cell.trim() === '')) continue;
    const cell = (field: Field) => (at[field] === undefined ? '' : (cells[at[field]]?.trim() ?? ''));
    const isSummary = cell('date') === '' || /^total\b/i.test(cell('date'));
    if (format !== 'own' && isSummary) continue;
    if (cells.length > (data[start.index]?.length ?? 0)) {
      faults.push({ path: `Line ${index + 1}:`, message: 'has more fields than the header line' });
      continue;
    }
    const written = cell('amount');
    const amount = parseAmount(written);
    if (amount === null) {
      const message = written === '' ? 'amount is required' : `amount must be a number, not "${written}"`;
      faults.push({ path: `Line ${index + 1}:`, message });
      continue;
    }
    const names = (['campaign', 'adset', 'creative'] as const).flatMap((field) =>
      cell(field) === '' || cell(field) === '--' ? [] : [[field, cell(field)]],
    );
    const counts = (['impressions', 'clicks'] as const).flatMap((field) =>
      cell(field) === '' ? [] : [[field, parseCount(cell(field))]],
    );
    rows.push({
      date: parseDate(cell('date')),
      currency: cell('currency') || ofHeading || currency,
      amount,
      ...Object.fromEntries([...names, ...counts]),
    });
    lines.push(index + 1);
  }
  return { format, rows, lines, faults };
}
