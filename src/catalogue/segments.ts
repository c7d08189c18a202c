import { murmur128 } from '#lib/murmur';

/**
 * The properties by which devices and clicks are grouped, in addition to their creative. `country` is a lower-case ISO 3166 code, `os` a
 * family such as `android`. Unknown values are empty text.
 */
export type Segment = { country: string; os: string; appVersion: string };

/** A country as answers show it: an ISO 3166 code in upper case. What is not a code (`other`, empty text) is unchanged. */
export const shownCountry = (stored: string): string =>
  /^[a-z]{2}$/.test(stored) ? stored.toUpperCase() : stored;

const asStored = (stored: string) => stored;

/** How answers show each part of a segment. */
export const SHOWN_PARTS: Readonly<Record<keyof Segment, (stored: string) => string>> = {
  country: shownCountry,
  os: asStored,
  appVersion: asStored,
};

export const UNKNOWN_SEGMENT: Segment = { country: '', os: '', appVersion: '' };

/** The value used for segments beyond a counter's limits. */
export const OTHER_VALUE = 'other';
export const OTHER_SEGMENT: Segment = { country: OTHER_VALUE, os: OTHER_VALUE, appVersion: OTHER_VALUE };

/** A counter stores this many segments with their app version, and then this many by country and OS only. */
export const MAX_SEGMENTS = 2_000;
const MAX_COARSE_SEGMENTS = 3_000;
const MAX_VERSION_CHARACTERS = 64;
/** Bounds the cache, because clients may send any number of values. */
const MAX_REMEMBERED = 10_000;

const textOf = ({ country, os, appVersion }: Segment) => `${country}\0${os}\0${appVersion}`;

/** 48 bits of a hash of the three texts, so that every counter gives a segment the same id without coordination. */
export function segmentId(segment: Segment): number {
  const [high, low] = murmur128(textOf(segment));
  return high * 0x10000 + (low >>> 16);
}

/** The segments that one counter knows, with their ids. */
export class SegmentBook {
  /** Segments that were added since the book was opened. */
  readonly added: (Segment & { id: number })[] = [];
  private readonly ids = new Map<string, number>();
  private readonly known: Set<number>;
  /** The segments whose ids were returned: at most as many as a counter stores. */
  private readonly used = new Map<number, Segment>();

  constructor(known: Iterable<number> = []) {
    this.known = new Set(known);
  }

  /** The id under which a segment is counted. Beyond the limits, its version becomes `other`, then its country too. */
  idOf(segment: Segment): number {
    const text = textOf(segment);
    let id = this.ids.get(text);
    if (id === undefined) {
      id = this.admit(segment);
      if (this.ids.size >= MAX_REMEMBERED) this.ids.clear();
      this.ids.set(text, id);
    }
    return id;
  }

  /** The segment of an id that `idOf` returned. Throws for any other. */
  segmentOf(id: number): Segment {
    const segment = this.used.get(id);
    if (!segment) throw new Error(`No segment has the id ${id}`);
    return segment;
  }

  private admit(wanted: Segment): number {
    const whole = {
      ...wanted,
      appVersion: wanted.appVersion.slice(0, MAX_VERSION_CHARACTERS).toWellFormed(),
    };
    const coarse = { ...whole, appVersion: OTHER_VALUE };
    for (const [segment, max] of [
      [whole, MAX_SEGMENTS],
      [coarse, MAX_COARSE_SEGMENTS],
    ] as const) {
      const id = segmentId(segment);
      if (this.known.has(id)) return this.use(id, segment);
      if (this.known.size < max) return this.add(id, segment);
    }
    const rest = { ...coarse, country: OTHER_VALUE };
    const id = segmentId(rest);
    return this.known.has(id) ? this.use(id, rest) : this.add(id, rest);
  }

  private use(id: number, segment: Segment): number {
    this.used.set(id, segment);
    return id;
  }

  private add(id: number, segment: Segment): number {
    this.known.add(id);
    this.added.push({ id, ...segment });
    return this.use(id, segment);
  }
}
