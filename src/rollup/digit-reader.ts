import { DIGITS, FULL_BLOCK_BYTES, MORE } from './segment-blocks.ts';

const NEWLINE = 10;
const VALUES = new Uint8Array(256);
for (let value = 0; value < DIGITS.length; value++) VALUES[DIGITS.charCodeAt(value)] = value;

/** The value of a digit by its character code. */
export const valueOfDigit = (code: number): number => VALUES[code] ?? 0;

const ENCODER = new TextEncoder();

/** Reads the numbers of a block. */
export class DigitReader {
  /** The place of the next number. */
  at = 0;
  private end = 0;
  private bytes = new Uint8Array(FULL_BLOCK_BYTES * 2);

  /** Opens an ASCII text, at the number that starts at an index. */
  open(text: string, start: number): void {
    if (this.bytes.length <= text.length) this.bytes = new Uint8Array(text.length + 1);
    this.end = ENCODER.encodeInto(text, this.bytes).written;
    // A number that does not end ends here.
    this.bytes[this.end] = NEWLINE;
    this.at = start;
  }

  /** Whether all numbers were read. Throws if the last one did not end. */
  get isAtEnd(): boolean {
    if (this.at > this.end) throw new Error('not a block');
    return this.at === this.end;
  }

  next(): number {
    const { bytes } = this;
    let digit = VALUES[bytes[this.at++] ?? NEWLINE] ?? 0;
    if (digit < MORE) return digit;
    let [number, unit] = [digit - MORE, MORE];
    do {
      digit = VALUES[bytes[this.at++] ?? NEWLINE] ?? 0;
      number += (digit & (MORE - 1)) * unit;
      unit *= MORE;
    } while (digit >= MORE);
    return number;
  }

  /** Reads so many numbers into an array. */
  read(into: Float64Array, from: number, count: number): void {
    const { bytes } = this;
    let at = this.at;
    for (let index = from; index < from + count; index++) {
      let digit = VALUES[bytes[at++] ?? NEWLINE] ?? 0;
      if (digit < MORE) {
        into[index] = digit;
        continue;
      }
      let number = digit - MORE;
      let unit = MORE;
      do {
        digit = VALUES[bytes[at++] ?? NEWLINE] ?? 0;
        number += (digit & (MORE - 1)) * unit;
        unit *= MORE;
      } while (digit >= MORE);
      into[index] = number;
    }
    this.at = at;
  }
}
