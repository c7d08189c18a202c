/** Numbers values in order of first use. */
export class Dictionary<Value> {
  /** By number. */
  readonly values: Value[] = [];
  private readonly numbers = new Map<Value, number>();

  numberOf(value: Value): number {
    let number = this.numbers.get(value);
    if (number === undefined) {
      number = this.values.push(value) - 1;
      this.numbers.set(value, number);
    }
    return number;
  }
}
