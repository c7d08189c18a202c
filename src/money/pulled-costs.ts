import type * as z from 'zod';
import { toFaults } from '#http';
import { JsonRows } from '#lib/encoding/json-rows';
import { parseCostFile } from './cost-files/read.ts';
import { CostEntry } from './costs.ts';

/** A row in our own columns. */
export type PulledCost = z.infer<typeof CostEntry>;

/** CSV is read as a whole, for its lines show together how it writes amounts and days. */
const MAX_CSV_CHARACTERS = 8 * 1024 * 1024;
const MAX_CSV_CELLS = 1_000_000;
/** What stands above the headings, and totals. */
const MAX_FURTHER_LINES = 100;
const SEPARATORS = new Set(',;\t|\n');

/**
 * Reads costs in CSV or JSON as they arrive, and passes each row on; of JSON, no more than one is in memory. `currency` is for rows that name none.
 * Throws an error that says what is wrong, with the line or the row, and as soon as there are more than `maxRows`.
 */
export class PulledCosts {
  readonly #options: { currency: string; maxRows: number; onRow: (row: PulledCost) => void };
  #json: JsonRows | null = null;
  #csv: string[] | null = null;
  #characters = 0;
  #cells = 0;
  #lines = 0;
  #rows = 0;

  constructor(options: { currency: string; maxRows: number; onRow: (row: PulledCost) => void }) {
    this.#options = options;
  }

  add(text: string): void {
    if (this.#json === null && this.#csv === null) {
      const [first] = text.trimStart();
      if (first === undefined) return;
      if (first === '[' || first === '{') this.#json = new JsonRows((row) => this.#take(row));
      else this.#csv = [];
    }
    this.#json?.add(text);
    if (this.#csv === null) return;
    this.#characters += text.length;
    for (const character of text) {
      if (SEPARATORS.has(character)) this.#cells++;
      if (character === '\n') this.#lines++;
    }
    if (this.#lines > this.#options.maxRows + MAX_FURTHER_LINES) throw this.#tooMany();
    if (this.#cells > MAX_CSV_CELLS) throw new Error(`CSV with more than ${MAX_CSV_CELLS} cells`);
    if (this.#characters > MAX_CSV_CHARACTERS) throw new Error('CSV of more than 8 MB: JSON may have 20 MB');
    this.#csv.push(text);
  }

  /** After the last `add`. */
  end(): void {
    if (this.#json) {
      this.#json.end();
      return;
    }
    const text = (this.#csv ?? []).join('');
    this.#csv = null;
    const parsed = parseCostFile(text, { currency: this.#options.currency, spread: false });
    const [broken] = parsed.faults;
    if (broken) throw new Error(`${broken.path} ${broken.message}`);
    for (const [index, row] of parsed.rows.entries()) this.#take(row, `line ${parsed.lines[index]}`);
  }

  #tooMany = () => new Error(`more than ${this.#options.maxRows} rows`);

  #take(row: unknown, place = `row ${this.#rows + 1}`): void {
    if (++this.#rows > this.#options.maxRows) throw this.#tooMany();
    const { currency, onRow } = this.#options;
    const read = CostEntry.safeParse(
      typeof row === 'object' && row !== null && !Array.isArray(row) ? { currency, ...row } : row,
    );
    if (!read.success) {
      const [fault] = toFaults(read.error);
      throw new Error(`${place}: ${fault?.path ?? ''} ${fault?.message ?? ''}`);
    }
    onRow(read.data);
  }
}
