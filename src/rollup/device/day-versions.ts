import { EVENT_DIMENSIONS, type OwnValues, ownValues } from '#catalogue';

// On each day, a device counts under the versions of the day's latest event, in whatever order the events arrive. This keeps the latest event of a
// device's last days, so that a later one with another version moves the device there.

/** What an event tells itself (`ownValuesOf`), and its time in seconds since midnight UTC of its day. */
export type VersionAt = { own: OwnValues; second: number };

/** A day stays under its versions once so many later days were added. */
const MAX_VERSION_DAYS = 7;

// The stored form is `[["app_version","sdk_version"],["1.4","7"],20,3600,21,50,["1.5","7"],22,7200]`: the names of the values, and then the values
// of the days that follow, each day with its second.

/** The versions of the latest event on each of a device's last days. They stay text, because very many devices are in memory at once. */
export class DayVersions {
  private stored: string;
  /** The day that was added to last, and its latest event, if its versions are kept: newer than what is in `stored`. */
  private day = Number.NaN;
  private latest: VersionAt | null = null;
  private isKept = false;
  private isChanged = false;

  /** `stored` is what `toString` returned, whichever dimensions there were then; empty text means no days. */
  constructor(stored: string) {
    this.stored = stored;
  }

  /**
   * Adds an event; `isFirst` if it is the day's first. Returns the versions that the day was under until now, null if it had none; or null if
   * the event changes nothing, because it is not the latest or its day is not kept. Throws if what is stored cannot be parsed.
   */
  add(day: number, at: VersionAt, isFirst: boolean): { former: OwnValues | null } | null {
    if (day !== this.day) this.turnTo(day);
    const former = this.latest;
    if (isFirst) {
      if (this.isKept) this.keep(at);
      return { former: null };
    }
    if (!former || !isLater(at, former)) return null;
    this.keep(at);
    return { former: former.own };
  }

  /** The versions of the latest event on the last kept day until this one; null if none is kept. Throws like `add`. */
  until(day: number): OwnValues | null {
    return read(`${this}`).findLast((kept) => kept.day <= day)?.own ?? null;
  }

  toString(): string {
    const { day, latest } = this;
    if (!latest || !this.isChanged) return this.stored;
    const days = [...read(this.stored).filter((own) => own.day !== day), { day, ...latest }];
    days.sort((one, other) => one.day - other.day);
    return write(days.slice(-MAX_VERSION_DAYS));
  }

  private keep(at: VersionAt): void {
    this.latest = at;
    this.isChanged = true;
  }

  private turnTo(day: number): void {
    this.stored = `${this}`;
    this.isChanged = false;
    const days = read(this.stored);
    this.day = day;
    this.latest = days.find((own) => own.day === day) ?? null;
    this.isKept = days.length < MAX_VERSION_DAYS || day > (days[0]?.day ?? day);
  }
}

type DayVersion = VersionAt & { day: number };

function read(text: string): DayVersion[] {
  if (text === '') return [];
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed)) throw new Error(UNREADABLE);
  const [names, ...parts]: unknown[] = parsed;
  if (!isTexts(names)) throw new Error(UNREADABLE);
  const places = EVENT_DIMENSIONS.map((name) => names.indexOf(name));
  const days: DayVersion[] = [];
  let own: OwnValues | null = null;
  for (let at = 0; at < parts.length; ) {
    const part = parts[at];
    if (isTexts(part)) {
      own = ownValues(places.map((place) => part[place] ?? ''));
      at++;
      continue;
    }
    const second = parts[at + 1];
    if (own === null || typeof part !== 'number' || typeof second !== 'number') throw new Error(UNREADABLE);
    days.push({ day: part, own, second });
    at += 2;
  }
  return days;
}

const write = (days: readonly DayVersion[]): string =>
  JSON.stringify([
    EVENT_DIMENSIONS,
    ...days.flatMap(({ day, own, second }, at) =>
      own.text === days[at - 1]?.own.text ? [day, second] : [own.values, day, second],
    ),
  ]);

/** Within a second, the greater values are the later ones. */
const isLater = (event: VersionAt, latest: VersionAt): boolean =>
  event.second === latest.second ? event.own.text > latest.own.text : event.second > latest.second;

const UNREADABLE = 'The versions of days cannot be parsed';

const isTexts = (values: unknown): values is string[] =>
  Array.isArray(values) && values.every((one) => typeof one === 'string');
