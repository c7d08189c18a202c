import type { Earning } from './journal.ts';

/**
 * A device's revenue is stored by age bands: each band ends on one of these days since acquisition, and the last is open-ended. Revenue up to
 * one of these days is therefore exact, and a device takes the same space however long it stays.
 */
export const REVENUE_DAYS = [0, 1, 3, 7, 14, 30, 60, 90, 180, 365];

/** Nanos of one currency. For statistics only: beyond 2^53 they may be rounded. */
export type Earned = {
  currency: string;
  /** By band. Missing bands have no revenue. */
  bands: { ad: number; purchase: number }[];
};

/** A device's revenue by currency. */
export class DeviceRevenue {
  private readonly currencies: Map<string, Earned['bands']>;

  private constructor(currencies: Map<string, Earned['bands']>) {
    this.currencies = currencies;
  }

  /** Parses what `toString` wrote; empty text means no revenue. Throws on any other text. */
  static parse(text: string): DeviceRevenue {
    return new DeviceRevenue(new Map(readRevenue(text).map(({ currency, bands }) => [currency, bands])));
  }

  /** `band`: see `bandOf`. */
  addToBand(kind: Earning, currency: string, band: number, nanos: number): void {
    let bands = this.currencies.get(currency);
    if (!bands) {
      bands = [];
      this.currencies.set(currency, bands);
    }
    const sums = bands[band] ?? { ad: 0, purchase: 0 };
    sums[kind] += nanos;
    bands[band] = sums;
  }

  toString(): string {
    return [...this.currencies]
      .map(([currency, bands]) => {
        const parts = bands.map(
          ({ ad, purchase }, band) => `${band.toString(36)}${toDigits(ad)}.${toDigits(purchase)}`,
        );
        // Missing bands are holes in the array, which `filter` skips.
        return [currency, ...parts.filter((part) => part !== '')].join('|');
      })
      .join(';');
  }
}

const toDigits = (nanos: number) => (nanos === 0 ? '' : nanos.toString(36));
const fromDigits = (digits: string) => (digits === '' ? 0 : Number.parseInt(digits, 36));

/** The index of the band for an age (days since the acquisition). Anything before the acquisition counts as day 0. */
export function bandOf(age: number): number {
  const band = REVENUE_DAYS.findIndex((day) => age <= day);
  return band === -1 ? REVENUE_DAYS.length : band;
}

const BAND = /^([0-9a])([0-9a-z]*)\.([0-9a-z]*)$/;

/** Parses what `DeviceRevenue` stored: `usd|09n8.|3.k3;eur|0.5`, with numbers in base 36. */
export function readRevenue(text: string): Earned[] {
  if (text === '') return [];
  return text.split(';').map((own) => {
    const [currency = '', ...parts] = own.split('|');
    const bands: Earned['bands'] = [];
    for (const part of parts) {
      const [, band, ad = '', purchase = ''] = BAND.exec(part) ?? [];
      if (band === undefined) throw new Error('not the revenue of a device');
      bands[Number.parseInt(band, 36)] = { ad: fromDigits(ad), purchase: fromDigits(purchase) };
    }
    return { currency, bands };
  });
}
