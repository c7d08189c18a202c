import { toCountryCode } from '#lib/input/country';
import { murmur128 } from '#lib/murmur';
import { MAX_NETWORK_CHARACTERS, toNetwork } from '#networks';

/** A country as answers show it: an ISO 3166 code in upper case. What is not a code (`other`, empty text) is unchanged. */
export const shownCountry = (stored: string): string =>
  /^[a-z]{2}$/.test(stored) ? stored.toUpperCase() : stored;

/** A dimension of devices and their events: everything that is known of it. */
type SegmentDefinition = {
  /** What people call it. */
  label: string;
  /** Several of them, within a sentence. */
  plural: string;
  /**
   * `device`: a device has one value from its acquisition on. `event`: each event tells its own; a cohort's devices have that of their
   * acquisition.
   */
  of: 'device' | 'event';
  /** Of a device: the field of its raw events. Of an event: the property of its `device`. */
  field: string;
  /** The form of its values, as filters and costs take them. `word` is in lower case. */
  form: 'country' | 'word' | 'network' | 'name';
  maxCharacters: number;
  /** Among too many segments, those that are given up first become `other` first; null is never given up, so it must have few values. */
  givenUp: 1 | 2 | null;
  /** Whether costs have it. Otherwise metrics of spend are null by it. */
  ofCosts: boolean;
  /** Its filter keeps its value when another application is chosen. */
  isShared: boolean;
};

/**
 * The properties by which devices and clicks are grouped, in addition to their creative. Their names are those of the columns of the cube,
 * of devices' pages and of the API. Unknown values are empty text.
 */
export const SEGMENT = {
  country: {
    label: 'Country',
    plural: 'countries',
    of: 'device',
    field: 'country',
    form: 'country',
    maxCharacters: 16,
    givenUp: 2,
    ofCosts: true,
    isShared: true,
  },
  os: {
    label: 'OS',
    plural: 'operating systems',
    of: 'device',
    field: 'os_family',
    form: 'word',
    maxCharacters: 16,
    givenUp: null,
    ofCosts: true,
    isShared: true,
  },
  network: {
    label: 'Network',
    plural: 'networks',
    of: 'device',
    field: 'network',
    form: 'network',
    maxCharacters: MAX_NETWORK_CHARACTERS,
    givenUp: 2,
    ofCosts: true,
    isShared: true,
  },
  app_version: {
    label: 'App version',
    plural: 'app versions',
    of: 'event',
    field: 'app_version',
    form: 'name',
    maxCharacters: 64,
    givenUp: 1,
    ofCosts: false,
    isShared: false,
  },
  sdk_version: {
    label: 'SDK version',
    plural: 'SDK versions',
    of: 'event',
    field: 'sdk_version',
    form: 'name',
    maxCharacters: 64,
    givenUp: 1,
    ofCosts: false,
    isShared: false,
  },
} as const satisfies Record<string, SegmentDefinition>;

export type SegmentDimension = keyof typeof SEGMENT;
type Having<Property extends Partial<SegmentDefinition>> = {
  [Name in SegmentDimension]: (typeof SEGMENT)[Name] extends Property ? Name : never;
}[SegmentDimension];

/** One value of each dimension. */
export type Segment = Record<SegmentDimension, string>;

const DEFINITIONS: Readonly<Record<SegmentDimension, SegmentDefinition>> = SEGMENT;
export const SEGMENT_DIMENSIONS = Object.keys(SEGMENT) as SegmentDimension[];

/** The dimensions of a device, of an event, and of costs. */
export type DeviceDimension = Having<{ of: 'device' }>;
export type EventDimension = Having<{ of: 'event' }>;
export type CostDimension = Having<{ ofCosts: true }>;
const dimensionsWith = <Name extends SegmentDimension>(isWanted: (one: SegmentDefinition) => boolean) =>
  SEGMENT_DIMENSIONS.filter((name): name is Name => isWanted(DEFINITIONS[name]));
export const DEVICE_DIMENSIONS = dimensionsWith<DeviceDimension>((one) => one.of === 'device');
export const EVENT_DIMENSIONS = dimensionsWith<EventDimension>((one) => one.of === 'event');
export const COST_DIMENSIONS = dimensionsWith<CostDimension>((one) => one.ofCosts);

export const isCostDimension = (name: string): name is CostDimension =>
  COST_DIMENSIONS.some((own) => own === name);
export const isSegmentDimension = (name: string): name is SegmentDimension => Object.hasOwn(SEGMENT, name);

/** A record with one value for each of some dimensions. */
export const ofDimensions = <Name extends SegmentDimension, Value>(
  names: readonly Name[],
  toValue: (name: Name, index: number) => Value,
): Record<Name, Value> =>
  Object.fromEntries(names.map((name, index) => [name, toValue(name, index)])) as Record<Name, Value>;

/** A segment of values in the order of `SEGMENT_DIMENSIONS`; missing ones are unknown. */
export const segmentOf = (values: readonly (string | undefined)[]): Segment =>
  ofDimensions(SEGMENT_DIMENSIONS, (_, index) => values[index] ?? '');

/** A stored segment. Dimensions that it lacks are unknown, and those that this release does not know are ignored. */
export const storedSegment = (stored: Readonly<Partial<Record<string, string>>>): Segment =>
  ofDimensions(SEGMENT_DIMENSIONS, (name) => stored[name] ?? '');

/** The values of a segment, in the order of `SEGMENT_DIMENSIONS`. */
export const valuesOfSegment = (segment: Segment): string[] =>
  SEGMENT_DIMENSIONS.map((name) => segment[name]);

/** A value as answers show it. */
export const shownValue = (name: SegmentDimension, stored: string): string =>
  DEFINITIONS[name].form === 'country' ? shownCountry(stored) : stored;

/** A value as it is stored. */
export function normalised(name: SegmentDimension, value: string): string {
  const { form } = DEFINITIONS[name];
  if (form === 'name') return value;
  if (form === 'country') return toCountryCode(value) ?? value.toLowerCase();
  return (form === 'network' && toNetwork(value)) || value.toLowerCase();
}

/** The value used for segments beyond a counter's limits. */
export const OTHER_VALUE = 'other';
export const UNKNOWN_SEGMENT: Segment = segmentOf([]);

/** The segment of an event that has no device, from what it tells itself. */
export const segmentWithoutDevice = (event: {
  type?: string;
  country?: string | undefined;
  os_family?: string | undefined;
  network?: string | undefined;
}): Segment => {
  const { country = '', os_family: os = '', network = '' } = event;
  return { ...UNKNOWN_SEGMENT, country, os, network };
};

/** A counter stores this many segments as they are, and then this many without the versions. */
export const MAX_SEGMENTS = 4_000;
const MAX_COARSE_SEGMENTS = 5_000;
/** Bounds the cache, because clients may send any number of values. */
const MAX_REMEMBERED = 10_000;

const textOf = (segment: Segment) => SEGMENT_DIMENSIONS.map((name) => segment[name]).join('\0');

/** 48 bits of a hash of the values, so that every counter gives a segment the same id without coordination. */
export function segmentId(segment: Segment): number {
  // Ids are kept, so they do not depend on the order of the dimensions, nor on one that no event tells.
  const known = SEGMENT_DIMENSIONS.filter((name) => segment[name] !== '').sort();
  const [high, low] = murmur128(known.map((name) => `${name}=${segment[name]}`).join('\0'));
  return high * 0x10000 + (low >>> 16);
}

/** A segment without what is given up at a level. */
const coarser = (segment: Segment, level: number): Segment =>
  ofDimensions(SEGMENT_DIMENSIONS, (name) =>
    (DEFINITIONS[name].givenUp ?? Number.POSITIVE_INFINITY) <= level ? OTHER_VALUE : segment[name],
  );

/** The segments that one counter knows, with their ids. */
export class SegmentBook {
  /** Segments that were added since the book was opened. */
  readonly added: (Segment & { id: number })[] = [];
  private readonly ids = new Map<string, number>();
  private readonly known: Set<number>;
  /** The segments whose ids were returned: at most as many as a counter stores. */
  private readonly used = new Map<number, Segment>();
  private readonly readStored: (id: number) => Segment | undefined;

  constructor(
    known: Iterable<number> = [],
    readStored: (id: number) => Segment | undefined = () => undefined,
  ) {
    this.known = new Set(known);
    this.readStored = readStored;
  }

  /** The id under which a segment is counted. Beyond the limits, versions become `other`, then everything but the OS. */
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

  /** The segment of an id that `idOf` returned, or that is stored. Throws for any other. */
  segmentOf(id: number): Segment {
    const segment = this.used.get(id) ?? this.readStored(id);
    if (!segment) throw new Error(`No segment has the id ${id}`);
    return segment;
  }

  private admit(wanted: Segment): number {
    const whole = ofDimensions(SEGMENT_DIMENSIONS, (name) =>
      wanted[name].slice(0, DEFINITIONS[name].maxCharacters).toWellFormed(),
    );
    for (const [level, max] of [MAX_SEGMENTS, MAX_COARSE_SEGMENTS].entries()) {
      const segment = coarser(whole, level);
      const id = segmentId(segment);
      if (this.known.has(id)) return this.use(id, segment);
      if (this.known.size < max) return this.add(id, segment);
    }
    const rest = coarser(whole, 2);
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

/** The values that an event tells itself, and those of its device for what it does not tell. Two with the same values have the same text. */
export type OwnValues = { values: readonly string[]; text: string };

type Telling = { device?: Readonly<Record<string, string>> | undefined };

/** The own values of an event. Returns `last` if they are the same, which most events of a device have. */
export function ownValuesOf(event: Telling, segment: Segment, last?: OwnValues): OwnValues {
  let isSame = last !== undefined;
  const values: string[] = [];
  for (let index = 0; index < EVENT_DIMENSIONS.length; index++) {
    const name = EVENT_DIMENSIONS[index];
    if (name === undefined) continue;
    const value = event.device?.[SEGMENT[name].field] ?? segment[name];
    if (value !== last?.values[index]) isSame = false;
    values.push(value);
  }
  return isSame && last ? last : ownValues(values);
}

const MAX_OWN_VALUES = 1_000;
const known = new Map<string, OwnValues>();

/** `values` are in the order of `EVENT_DIMENSIONS`. Returns the same object for the same values, because a run holds them for every device and day. */
export function ownValues(values: readonly string[]): OwnValues {
  const text = values.join('\0');
  const own = known.get(text) ?? { values, text };
  if (known.size >= MAX_OWN_VALUES) known.clear();
  known.set(text, own);
  return own;
}

/** The segment of a device's events with these own values. */
export const withOwnValues = (segment: Segment, { values }: OwnValues): Segment => ({
  ...segment,
  ...ofDimensions(EVENT_DIMENSIONS, (_, index) => values[index] ?? ''),
});
