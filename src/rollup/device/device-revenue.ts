import { lettered, readLettered } from '#lib/encoding/lettered';
import type { Earning } from './journal.ts';

/**
 * A device's revenue is stored by age bands: each band ends on one of these days since acquisition, and the last is open-ended. Revenue up to
 * one of these days is therefore exact, and a device takes the same space however long it stays.
 */
export const REVENUE_DAYS = [0, 1, 3, 7, 14, 30, 60, 90, 180, 365];

/** Nanos of one currency. For statistics only: beyond 2^53 they may be rounded. */
type Band = Record<Earning, number>;
export type Earned = {
  currency: string;
  /** By band. Missing bands have no revenue. */
  bands: Band[];
};

// The stored form is `usd|0A9n8|3AcP1x;eur|P5`: by currency the bands, each with the day that it ends on, in base 36, and its sums (see
// `lettered`). The open-ended band has no day. So days and sums may be added and removed: revenue of a band that this release does not have is
// in the next one that it has, and unknown sums are ignored.

const LETTERS: Readonly<Record<Earning, string>> = { ad: 'A', purchase: 'P', returned: 'R' };
const EARNINGS = Object.keys(LETTERS) as Earning[];
const NAME_OF = new Map(EARNINGS.map((name) => [LETTERS[name], name]));
const OPEN_ENDED = '';

/** A device's revenue by currency. */
export class DeviceRevenue {
  private readonly currencies: Map<string, Band[]>;

  private constructor(currencies: Map<string, Band[]>) {
    this.currencies = currencies;
  }

  /** Parses what `toString` wrote; empty text means no revenue. Throws on any other text. */
  static parse(text: string): DeviceRevenue {
    return new DeviceRevenue(new Map(readRevenue(text).map(({ currency, bands }) => [currency, bands])));
  }

  /** `band`: see `bandOf`. */
  addToBand(earning: Earning, currency: string, band: number, nanos: number): void {
    let bands = this.currencies.get(currency);
    if (!bands) {
      bands = [];
      this.currencies.set(currency, bands);
    }
    addTo(bands, band, earning, nanos);
  }

  toString(): string {
    return [...this.currencies]
      .flatMap(([currency, bands]) => {
        let text = '';
        // Missing bands are holes in the array, which `forEach` skips. A refund that was reversed leaves nothing.
        bands.forEach((sums, band) => {
          const own = EARNINGS.filter((name) => sums[name] !== 0);
          if (own.length > 0) text += `|${dayText(band)}`;
          for (const name of own) text += lettered(LETTERS[name], sums[name]);
        });
        return text === '' ? [] : [currency + text];
      })
      .join(';');
  }
}

const noRevenue = (): Band => ({ ad: 0, purchase: 0, returned: 0 });

function addTo(bands: Band[], band: number, earning: Earning, nanos: number): void {
  const sums = bands[band] ?? noRevenue();
  sums[earning] += nanos;
  bands[band] = sums;
}

/** The index of the band for an age (days since the acquisition). Anything before the acquisition counts as day 0. */
export function bandOf(age: number): number {
  const band = REVENUE_DAYS.findIndex((day) => age <= day);
  return band === -1 ? REVENUE_DAYS.length : band;
}

/** The day that a band ends on. */
const dayText = (band: number): string => REVENUE_DAYS[band]?.toString(36) ?? OPEN_ENDED;

function bandOfText(text: string): number {
  const day = text === OPEN_ENDED ? Number.POSITIVE_INFINITY : Number.parseInt(text, 36);
  if (Number.isNaN(day)) throw new Error('not the revenue of a device');
  return bandOf(day);
}

/** Parses what `DeviceRevenue` stored, in this release or another. */
export function readRevenue(text: string): Earned[] {
  if (text === '') return [];
  return text.split(';').map((own) => {
    const [currency = '', ...parts] = own.split('|');
    const bands: Band[] = [];
    for (const part of parts) {
      const stored = noRevenue();
      const day = readLettered(part, (letter, sum) => {
        const name = NAME_OF.get(letter);
        if (name) stored[name] = sum;
      });
      const band = bandOfText(day);
      for (const name of EARNINGS) if (stored[name] !== 0) addTo(bands, band, name, stored[name]);
    }
    return { currency, bands };
  });
}
