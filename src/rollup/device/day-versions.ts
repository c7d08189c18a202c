import { EVENT_DIMENSIONS, type OwnValues, ownValues } from '#catalogue';

// On each day, a device counts under the versions of the day's latest event, in whatever order the events arrive. This keeps the latest event of a
// device's last days, so that a later one with another version moves the device there.

/** What an event tells itself (`ownValuesOf`), and its time in seconds since midnight UTC of its day. */
export type VersionAt = { own: OwnValues; second: number };

/** A day stays under its versions once so many later days were added. */
const MAX_VERSION_DAYS = 7;

type KeptDay = VersionAt & { day: number };

const COLUMNS: readonly string[] = ['day', 'second', ...EVENT_DIMENSIONS];

/** The versions of the latest event on each of a device's last days. */
export class DayVersions {
  /** By ascending day. */
  private readonly kept: KeptDay[];

  private constructor(kept: KeptDay[]) {
    this.kept = kept;
  }

  /**
   * Parses what `toString` wrote, whichever dimensions there were then; empty text means no days. Throws on any other text.
   */
  static parse(text: string): DayVersions {
    if (text === '') return new DayVersions([]);
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed)) throw new Error(UNREADABLE);
    const [names, ...rows]: unknown[] = parsed;
    if (!Array.isArray(names)) throw new Error(UNREADABLE);
    const places = COLUMNS.map((name) => names.indexOf(name));
    return new DayVersions(rows.map((row) => toKeptDay(row, places)));
  }

  /**
   * Adds an event; `isFirst` if it is the day's first. Returns the versions that the day was under until now, null if it had none; or null if
   * the event changes nothing, because it is not the latest or its day is not kept.
   */
  add(day: number, { own, second }: VersionAt, isFirst: boolean): { former: OwnValues | null } | null {
    const { kept } = this;
    if (isFirst) {
      kept.splice(kept.findLastIndex((other) => other.day < day) + 1, 0, { day, own, second });
      if (kept.length > MAX_VERSION_DAYS) kept.shift();
      return { former: null };
    }
    const latest = kept.findLast((other) => other.day === day);
    if (!latest || !isLater({ own, second }, latest)) return null;
    const former = latest.own;
    latest.own = own;
    latest.second = second;
    return { former };
  }

  toString(): string {
    if (this.kept.length === 0) return '';
    return JSON.stringify([COLUMNS, ...this.kept.map(toRow)]);
  }
}

/** Within a second, the greater values are the later ones. */
const isLater = (event: VersionAt, latest: VersionAt): boolean =>
  event.second === latest.second ? event.own.text > latest.own.text : event.second > latest.second;

const UNREADABLE = 'The versions of days cannot be parsed';

const toRow = ({ day, second, own }: KeptDay) => [day, second, ...own.values];

/** `places` are those of `COLUMNS` among the stored ones; -1 for a dimension that was not stored. */
function toKeptDay(row: unknown, places: readonly number[]): KeptDay {
  const stored: unknown[] = Array.isArray(row) ? row : [];
  const [day, second, ...values] = places.map((place) => stored[place] ?? '');
  if (typeof day !== 'number' || typeof second !== 'number' || !isTexts(values)) throw new Error(UNREADABLE);
  return { day, second, own: ownValues(values) };
}

const isTexts = (values: unknown[]): values is string[] => values.every((one) => typeof one === 'string');
