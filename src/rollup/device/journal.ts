import { Dictionary } from '#lib/collections/dictionary';

/** `returned` is what was refunded of purchases. */
export type Earning = 'ad' | 'purchase' | 'returned';

/** The kind of an entry, in the low bits of its code. The bits above are the number of its text. */
const STEP = 0;
const CODES: Readonly<Record<Earning, number>> = { ad: 1, purchase: 2, returned: 3 };
/** What happens to a step, where an entry of revenue has its band. */
const CHANGES = ['added', 'removed'] as const;
export type StepChange = (typeof CHANGES)[number];
const EARNINGS = Object.keys(CODES) as Earning[];
const KIND_MASK = 3;
const BAND_SHIFT = 2;
const TEXT_SHIFT = 6;
const CODE_MASK = 2 ** TEXT_SHIFT - 1;

const FIRST_CAPACITY = 256;
/** Per entry: its value, its code and the position of the next one. */
const ENTRY_BYTES = 16;
/** Per text, besides its characters: its entries in an array and a map. */
const TEXT_BYTES = 100;

/**
 * The funnel steps and revenue of a run's devices since they were read, in order of arrival, as three columns of numbers. An entry takes 16 bytes
 * outside the heap, where an object would take a hundred. The entries of a device form a linked list.
 */
export class Journal {
  private length = 0;
  private values = new Float64Array(FIRST_CAPACITY);
  private codes = new Int32Array(FIRST_CAPACITY);
  private nexts = new Int32Array(FIRST_CAPACITY);
  private readonly texts = new Dictionary<string>();
  private textBytes = 0;

  /** The memory that the journal takes, in bytes. */
  get weight(): number {
    return this.length * ENTRY_BYTES + this.textBytes;
  }

  /** Appends a change of a funnel step at an epoch second to a device's last entry (-1 for none). Returns the new entry's position. */
  addStep(last: number, change: StepChange, step: string, second: number): number {
    const own = (CHANGES.indexOf(change) << BAND_SHIFT) | STEP;
    return this.add(last, (this.numberOf(step) << TEXT_SHIFT) | own, second);
  }

  /** Appends revenue in nanos in the same way. `band`: see `bandOf`. */
  addEarning(last: number, kind: Earning, currency: string, band: number, nanos: number): number {
    const own = (band << BAND_SHIFT) | CODES[kind];
    return this.add(last, (this.numberOf(currency) << TEXT_SHIFT) | own, nanos);
  }

  /** Visits a device's entries, starting at the position of the first one (-1 for none). */
  visit(
    first: number,
    onStep: (change: StepChange, step: string, second: number) => void,
    onEarning: (kind: Earning, currency: string, band: number, nanos: number) => void,
  ): void {
    for (let place = first; place >= 0; place = this.nexts[place] ?? -1) {
      const code = this.codes[place] ?? 0;
      const text = this.texts.values[code >>> TEXT_SHIFT] ?? '';
      const value = this.values[place] ?? 0;
      const own = code & CODE_MASK;
      const kind = EARNINGS[(own & KIND_MASK) - 1];
      if (kind) onEarning(kind, text, own >>> BAND_SHIFT, value);
      else onStep(CHANGES[own >>> BAND_SHIFT] ?? 'added', text, value);
    }
  }

  private add(last: number, code: number, value: number): number {
    if (this.length === this.values.length) this.grow();
    const place = this.length++;
    this.values[place] = value;
    this.codes[place] = code;
    this.nexts[place] = -1;
    if (last >= 0) this.nexts[last] = place;
    return place;
  }

  private numberOf(text: string): number {
    const known = this.texts.values.length;
    const number = this.texts.numberOf(text);
    if (number === known) this.textBytes += TEXT_BYTES + text.length;
    return number;
  }

  private grow(): void {
    const { values, codes, nexts } = this;
    const capacity = values.length * 2;
    this.values = new Float64Array(capacity);
    this.codes = new Int32Array(capacity);
    this.nexts = new Int32Array(capacity);
    this.values.set(values);
    this.codes.set(codes);
    this.nexts.set(nexts);
  }
}
