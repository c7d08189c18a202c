// On each day, a device counts under the app version of the day's latest event, in whatever order the events arrive. This keeps the latest
// event of a device's last days, so that a later one with another version moves the device there.

/** The version that an event names, and its time in seconds since midnight UTC of its day. */
export type VersionAt = { version: string; second: number };

/** A day stays under its version once so many later days were added. */
const MAX_VERSION_DAYS = 7;

type KeptDay = VersionAt & { day: number };

/** The version of the latest event on each of a device's last days. */
export class DayVersions {
  /** By ascending day. */
  private readonly kept: KeptDay[];

  private constructor(kept: KeptDay[]) {
    this.kept = kept;
  }

  /** Parses what `toString` wrote; empty text means no days. Throws on any other text. */
  static parse(text: string): DayVersions {
    if (text === '') return new DayVersions([]);
    const rows: unknown = JSON.parse(text);
    if (!Array.isArray(rows)) throw new Error('The versions of days cannot be parsed');
    return new DayVersions(rows.map(toKeptDay));
  }

  /**
   * Adds an event; `isFirst` if it is the day's first. Returns the version that the day was under until now, null if it had none; or null if
   * the event changes nothing, because it is not the latest or its day is not kept.
   */
  add(day: number, { version, second }: VersionAt, isFirst: boolean): { former: string | null } | null {
    const { kept } = this;
    if (isFirst) {
      kept.splice(kept.findLastIndex((own) => own.day < day) + 1, 0, { day, version, second });
      if (kept.length > MAX_VERSION_DAYS) kept.shift();
      return { former: null };
    }
    const latest = kept.findLast((own) => own.day === day);
    if (!latest || !isLater({ version, second }, latest)) return null;
    const former = latest.version;
    latest.version = version;
    latest.second = second;
    return { former };
  }

  toString(): string {
    if (this.kept.length === 0) return '';
    return JSON.stringify(this.kept.map(({ day, second, version }) => [day, second, version]));
  }
}

/** Within a second, the greater version is the later one. */
const isLater = (event: VersionAt, latest: VersionAt): boolean =>
  event.second === latest.second ? event.version > latest.version : event.second > latest.second;

function toKeptDay(row: unknown): KeptDay {
  const [day, second, version]: unknown[] = Array.isArray(row) ? row : [];
  if (typeof day === 'number' && typeof second === 'number' && typeof version === 'string')
    return { day, second, version };
  throw new Error('The versions of days cannot be parsed');
}
