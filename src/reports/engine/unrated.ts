import { amountField, fromNanos, type WithExact } from '#lib/money';

/** Amounts without a rate, by currency. They are in none of the sums beside them. */
export type Unrated = ReadonlyMap<string, bigint>;

const NOTHING_UNRATED: Unrated = new Map();

export function addUnrated(sums: Map<string, bigint>, currency: string, amount: bigint): void {
  sums.set(currency, (sums.get(currency) ?? 0n) + amount);
}

/** Amounts that figures lack, because they cannot be converted, in their own currencies. */
export type Unconverted = ({ currency: string } & WithExact<'amount'>)[];

export const unconvertedOf = (unrated: Unrated): Unconverted =>
  [...unrated]
    .filter(([, amount]) => amount !== 0n)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([currency, amount]) => ({ currency, ...amountField('amount', amount) }));

/** The field of a row or cell whose figures lack amounts; empty if they lack none. */
export function unconvertedField<Name extends string = 'unconverted'>(
  unrated: Unrated,
  name = 'unconverted' as Name,
): Partial<Record<Name, Unconverted>> {
  const amounts = unrated.size === 0 ? [] : unconvertedOf(unrated);
  return (amounts.length === 0 ? {} : { [name]: amounts }) as Partial<Record<Name, Unconverted>>;
}

/**
 * What figures lack that counters compute from the revenue of devices. Devices store it as numbers, so beyond 2^53 nanos it may be rounded, and
 * there is no exact amount.
 */
export function unconvertedOfDevices(parts: readonly { unconverted: Readonly<Record<string, number>> }[]): {
  unconverted?: { currency: string; amount: number }[];
} {
  const unrated = new Map<string, number>();
  for (const [currency, amount] of parts.flatMap((own) => Object.entries(own.unconverted))) {
    unrated.set(currency, (unrated.get(currency) ?? 0) + amount);
  }
  const unconverted = [...unrated]
    .filter(([, amount]) => amount !== 0)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([currency, amount]) => ({ currency, amount: fromNanos(BigInt(Math.round(amount))) }));
  return unconverted.length === 0 ? {} : { unconverted };
}

/** Amounts without a rate by number of a group or of a cell. */
export class UnratedSums {
  private readonly sums = new Map<number, Map<string, bigint>>();

  add(at: number, currency: string, amount: bigint): void {
    if (amount !== 0n) addUnrated(this.at(at), currency, amount);
  }

  addAll(at: number, added: Unrated): void {
    for (const [currency, amount] of added) this.add(at, currency, amount);
  }

  of(at: number): Unrated {
    return this.sums.get(at) ?? NOTHING_UNRATED;
  }

  private at(at: number): Map<string, bigint> {
    const known = this.sums.get(at) ?? new Map<string, bigint>();
    this.sums.set(at, known);
    return known;
  }
}
