/** Numbers values in order of first use. */
export class Dictionary<Value> {
  readonly values: Value[] = [];
  private readonly indexes = new Map<Value, number>();

  indexOf(value: Value): number {
    let index = this.indexes.get(value);
    if (index === undefined) {
      index = this.values.push(value) - 1;
      this.indexes.set(value, index);
    }
    return index;
  }
}
