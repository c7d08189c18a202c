import Papa from 'papaparse';
import type { Fault } from '#http';
import { COST_LANGUAGES } from './formats/index.ts';
import {
  COST_FIELDS,
  type CostMap,
  type Layout,
  missingFields,
  plainHeading,
  readLayout,
  readMapped,
} from './layout.ts';

// Finds the line with the headings, and with it how the file is written. Pure.

/** Some exports start with the report's name, its dates and what it was filtered by. */
const MAX_LINES_BEFORE_HEADING = 30;
const MAX_HEADINGS_SHOWN = 12;
const DELIMITERS = [',', ';', '\t', '|'];

export type CostTable = {
  /** All lines of the file, also those before the headings. */
  cells: readonly (readonly string[])[];
  heading: number;
  layout: Layout;
};

/** Why the headings are not understood. `headings` are those of the line that comes closest. */
export type UnknownTable = { fault: Fault; headings: readonly string[] };

type HeadingCandidate = {
  heading: number;
  cells: readonly string[];
  layout: Layout;
  missing: readonly string[];
};

const isEmpty = (cells: readonly string[]) => cells.every((cell) => cell.trim() === '');

function candidatesIn(lines: readonly (readonly string[])[], map: CostMap | null): HeadingCandidate[] {
  let hasTitle = false;
  return lines.slice(0, MAX_LINES_BEFORE_HEADING).flatMap((cells, heading): HeadingCandidate[] => {
    if (isEmpty(cells)) return [];
    const layout = map ? readMapped(cells, map) : readLayout(cells, hasTitle);
    hasTitle = true;
    return layout ? [{ heading, cells, layout, missing: missingFields(layout) }] : [];
  });
}

const found = ({ layout }: HeadingCandidate) => Object.keys(layout.at).length;

/** The candidate with the fewest missing fields and, among those, the most found; the first of several. */
const bestOf = (candidates: readonly HeadingCandidate[]): HeadingCandidate | undefined =>
  [...candidates].sort(
    (left, right) =>
      left.missing.length - right.missing.length ||
      found(right) - found(left) ||
      right.cells.length - left.cells.length,
  )[0];

const parse = (text: string, delimiter: string, preview = 0): string[][] =>
  Papa.parse<string[]>(text, { delimiter, preview, skipEmptyLines: false }).data;

/** The cells of a text by the delimiter that makes a line readable as headings, whatever characters its names have. */
function readText(text: string, map: CostMap | null): { lines: string[][]; candidates: HeadingCandidate[] } {
  const plain = text.replace(/^\uFEFF/, '').trimEnd();
  const [best] = DELIMITERS.map((delimiter) => {
    const candidates = candidatesIn(parse(plain, delimiter, MAX_LINES_BEFORE_HEADING), map);
    return { delimiter, candidates, nearest: bestOf(candidates) };
  }).sort((left, right) => {
    if (!left.nearest || !right.nearest) return left.nearest ? -1 : right.nearest ? 1 : 0;
    return (
      left.nearest.missing.length - right.nearest.missing.length ||
      found(right.nearest) - found(left.nearest) ||
      right.nearest.cells.length - left.nearest.cells.length
    );
  });
  return { lines: parse(plain, best?.delimiter ?? ','), candidates: best?.candidates ?? [] };
}

/** Reads the text of a file, or the cells of a spreadsheet. `map`: which column is which, for headings that no format knows. */
export function readTable(
  source: string | readonly (readonly string[])[],
  map: CostMap | null,
): CostTable | UnknownTable {
  const { lines, candidates } =
    typeof source === 'string'
      ? readText(source, map)
      : { lines: source, candidates: candidatesIn(source, map) };
  const best = bestOf(candidates);
  if (best && best.missing.length === 0) return { cells: lines, heading: best.heading, layout: best.layout };
  if (map && !best) return unknownMap(map, source);
  const missing = best?.missing ?? ['date', 'campaign', 'amount'];
  const headings = (best?.cells ?? []).map((cell) => cell.trim()).filter((cell) => cell !== '');
  const isHalfRange = best && (best.layout.at.start ?? best.layout.at.end) !== undefined;
  const shown =
    headings
      .slice(0, MAX_HEADINGS_SHOWN)
      .map((heading) => `“${heading}”`)
      .join(', ') + (headings.length > MAX_HEADINGS_SHOWN ? ', …' : '');
  const message = [
    `has no column for ${missing.join(', ')}${isHalfRange ? ': export by day' : ''}.`,
    headings.length > 0 ? `It has: ${shown}.` : 'It is empty.',
    `Exports are read in ${COST_LANGUAGES}; for other headings, say which column is which, such as date=${headings[0] ?? 'Datum'} and amount=…, with ${namedFields()}.`,
  ].join(' ');
  return { fault: { path: 'The header line', message }, headings };
}

const namedFields = () => COST_FIELDS.filter((field) => field !== 'start' && field !== 'end').join(', ');

function unknownMap(map: CostMap, source: string | readonly (readonly string[])[]): UnknownTable {
  const unmapped = readTable(source, null);
  const headings = 'fault' in unmapped ? unmapped.headings : (unmapped.cells[unmapped.heading] ?? []);
  const known = new Set(headings.map(plainHeading));
  const absent = Object.values(map).filter((heading) => !known.has(plainHeading(heading)));
  const message = `has no column ${absent.map((heading) => `“${heading}”`).join(', ')}. It has: ${headings.map((heading) => `“${heading}”`).join(', ')}.`;
  return { fault: { path: 'The header line', message }, headings };
}
