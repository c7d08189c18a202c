/** Numbers texts in order of first use. */
export class Texts {
  /** By number. */
  readonly all: string[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(text: string): number {
    let number = this.numbers.get(text);
    if (number === undefined) {
      number = this.all.push(text) - 1;
      this.numbers.set(text, number);
    }
    return number;
  }

  textOf(number: number): string {
    return this.all[number] ?? '';
  }
}

/** The right number of a pair is below this, so that a pair fits into an exact number. */
const MAX_RIGHT = 2 ** 26;

/** Numbers pairs of numbers in order of first use. */
export class Pairs {
  private readonly pairs: number[] = [];
  private readonly numbers = new Map<number, number>();

  numberOf(left: number, right: number): number {
    const pair = left * MAX_RIGHT + right;
    let number = this.numbers.get(pair);
    if (number === undefined) {
      number = this.pairs.push(pair) - 1;
      this.numbers.set(pair, number);
    }
    return number;
  }

  partsOf(number: number): [left: number, right: number] {
    const pair = this.pairs[number] ?? 0;
    return [Math.floor(pair / MAX_RIGHT), pair % MAX_RIGHT];
  }
}
