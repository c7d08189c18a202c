import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { MAP_EXAMPLES } from '../../../src/cli/docs/map-examples.ts';

// Exports as other services write them, and the sums that their own rows give. Sources: reports of exports that were read wrongly, and the
// columns that the services document; see `docs/migrating.md`.

/** Amounts by currency. */
type Amounts = Record<string, number>;

export type ShelvedImport = {
  /** Imported in this order. */
  files: readonly string[];
  /** A service with a reader, or the heading of the map of columns in `docs/migrating.md`. */
  from: 'appsflyer' | 'adjust' | { heading: keyof typeof MAP_EXAMPLES };
  expected: {
    devices: number;
    purchases: Amounts;
    ads: Amounts;
    /** How many custom events. */
    events: number;
    sessions?: number;
    /** How many rows were not taken, by a part of the reason. */
    notTaken?: Record<string, number>;
  };
};

const SECONDARY = { 'not the primary attribution': 1 };
const NONE = { purchases: {}, ads: {}, events: 0 };
/** One event that was reported for acquisition and for retargeting. */
const FIVE = { ...NONE, devices: 1, purchases: { usd: 5 }, notTaken: SECONDARY };
const UTF_16 = { devices: 2, purchases: { jpy: 1250 }, ads: {}, events: 1 };

export const SHELF: readonly ShelvedImport[] = [
  { files: ['af_both.csv'], from: 'appsflyer', expected: FIVE },
  { files: ['af_both_reversed.csv'], from: 'appsflyer', expected: FIVE },
  { files: ['af_acquisition.csv', 'af_retargeting.csv'], from: 'appsflyer', expected: FIVE },
  { files: ['af_retargeting.csv', 'af_acquisition.csv'], from: 'appsflyer', expected: FIVE },
  {
    files: ['af_both.csv', 'af_retargeting.csv', 'af_both_reversed.csv'],
    from: 'appsflyer',
    expected: { ...FIVE, notTaken: { 'not the primary attribution': 2 } },
  },
  {
    files: ['af_data_locker.csv'],
    from: 'appsflyer',
    expected: { devices: 2, purchases: { eur: 7.25 }, ads: { usd: 0.031 }, events: 2 },
  },
  { files: ['af_utf16.tsv'], from: 'appsflyer', expected: UTF_16 },
  { files: ['af_utf16_be.tsv'], from: 'appsflyer', expected: UTF_16 },
  {
    files: ['af_semicolons.csv'],
    from: 'appsflyer',
    expected: { ...NONE, devices: 1, purchases: { usd: 3.5, eur: 2.25 } },
  },
  {
    files: ['af_packed.csv.gz'],
    from: 'appsflyer',
    expected: { ...NONE, devices: 1, purchases: { usd: 5 } },
  },
  {
    files: ['af_spreadsheet.csv'],
    from: 'appsflyer',
    expected: {
      ...NONE,
      devices: 1,
      purchases: { usd: 15 },
      notTaken: {
        'the device id … has lost digits': 1,
        'the transaction id … has lost digits': 1,
        '… is not a time': 1,
        'revenue must be a number': 2,
      },
    },
  },
  {
    files: ['adjust_reporting.csv'],
    from: 'adjust',
    expected: { ...NONE, devices: 1, notTaken: { 'export {reporting_currency}': 2 } },
  },
  {
    files: ['adjust_dollars.csv'],
    from: 'adjust',
    expected: {
      ...NONE,
      devices: 1,
      purchases: { usd: 2.75, eur: 1.02 },
      notTaken: { 'only in {revenue_usd_cents}': 1 },
    },
  },
  { files: ['adj_networks.csv'], from: 'adjust', expected: { ...NONE, devices: 11 } },
  {
    files: ['singular.csv'],
    from: { heading: 'Singular' },
    expected: {
      ...{ devices: 2, purchases: { usd: 4.99 }, ads: { usd: 0.0125 }, events: 1, sessions: 1 },
      notTaken: { 'revenue is negative': 1 },
    },
  },
  {
    files: ['branch.csv'],
    from: { heading: 'Branch' },
    expected: {
      ...{ ...NONE, devices: 2, purchases: { eur: 9.5, usd: 3.25 }, sessions: 1 },
      notTaken: { 'left out by the map': 1, 'the transaction id of an earlier purchase': 1 },
    },
  },
  {
    files: ['kochava.csv'],
    from: { heading: 'Kochava' },
    expected: {
      ...{ devices: 1, purchases: { usd: 6.75 }, ads: {}, events: 1 },
      notTaken: { 'is not a time': 1 },
    },
  },
  {
    files: ['airbridge.csv'],
    from: { heading: 'Airbridge' },
    expected: { ...NONE, devices: 2, purchases: { eur: 20 } },
  },
  {
    files: ['tenjin.csv'],
    from: { heading: 'Tenjin' },
    expected: {
      ...{ devices: 3, purchases: { usd: 4.99, eur: 3.5 }, ads: {}, events: 1, sessions: 2 },
      notTaken: { 'the device id … says nothing, like null': 1 },
    },
  },
];

export const shelved = (file: string) => path.join(import.meta.dirname, file);

/** The text of the map with which an entry is imported; null if its service has a reader. */
export function mapOf({ from }: ShelvedImport): string | null {
  if (typeof from === 'string') return null;
  const [, map] =
    new RegExp(`\n### ${from.heading}\n[^]*?\`\`\`json\n([^]*?)\`\`\``).exec(
      readFileSync(path.join(import.meta.dirname, '../../../docs/migrating.md'), 'utf8'),
    ) ?? [];
  if (map === undefined) throw new Error(`docs/migrating.md has no map of ${from.heading}`);
  return map;
}

export const titleOf = ({ files, from }: ShelvedImport) =>
  `${files.join(', then ')} of ${typeof from === 'string' ? from : from.heading}`;

/** Sums of amounts by currency, exact to the billionth. */
export function sumsOf(events: readonly { currency: string; value: number }[]): Amounts {
  const nanos: Record<string, number> = {};
  for (const { currency, value } of events) {
    nanos[currency] = (nanos[currency] ?? 0) + Math.round(value * 1e9);
  }
  return Object.fromEntries(Object.entries(nanos).map(([currency, sum]) => [currency, sum / 1e9]));
}
