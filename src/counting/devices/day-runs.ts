const RUN = /^(-?\d+)(?:-(-?\d+))?$/;

/** The runs of a stored day set, for very many devices, without creating a `DaySet` for each. */
export function readRuns(text: string): [first: number, last: number][] {
  if (text === '') return [];
  return text.split(',').map((part) => {
    const [, first, last = first] = RUN.exec(part) ?? [];
    return [Number(first), Number(last)];
  });
}
