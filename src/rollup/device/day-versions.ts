import { EVENT_DIMENSIONS, type OwnValues, ownValues } from '#catalogue';

// On each day, a device counts under the versions of the day's latest event, in whatever order the events arrive. This keeps the latest event of a
// device's last days, so that a later one with another version moves the device there.

/** What an event tells itself (`ownValuesOf`), and its time in seconds since midnight UTC of its day. */
export type VersionAt = { own: OwnValues; second: number };

/** A day stays under its versions once so many later days were added. */
const MAX_VERSION_DAYS = 7;

// The stored form is `[["app_version","sdk_version"],["1.4","7"],20,3600,21,50,["1.5","7"],22,7200]`: the names of the values, and then the values
// of the days that follow, each day with its second.

/** The versions of the latest event on each of a device's last days. */
export class DayVersions {
  /** Each day with its second, by ascending day, in one flat array: a run keeps many devices, and an object per day would take three times the memory. */
  private readonly seconds: number[] = [];
  /** By day. */
  private readonly owns: OwnValues[] = [];

  /**
   * Parses what `toString` wrote, whichever dimensions there were then; empty text means no days. Throws on any other text.
   */
  static parse(text: string): DayVersions {
    const versions = new DayVersions();
    if (text === '') return versions;
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed)) throw new Error(UNREADABLE);
    const [names, ...parts]: unknown[] = parsed;
    if (!isTexts(names)) throw new Error(UNREADABLE);
    const places = EVENT_DIMENSIONS.map((name) => names.indexOf(name));
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
      versions.seconds.push(part, second);
      versions.owns.push(own);
      at += 2;
    }
    return versions;
  }

  /**
   * Adds an event; `isFirst` if it is the day's first. Returns the versions that the day was under until now, null if it had none; or null if
   * the event changes nothing, because it is not the latest or its day is not kept.
   */
  add(day: number, { own, second }: VersionAt, isFirst: boolean): { former: OwnValues | null } | null {
    const { seconds, owns } = this;
    let place = owns.length - 1;
    while (place >= 0 && (seconds[2 * place] ?? 0) > day) place--;
    if (isFirst) {
      seconds.splice(2 * (place + 1), 0, day, second);
      owns.splice(place + 1, 0, own);
      if (owns.length > MAX_VERSION_DAYS) {
        seconds.splice(0, 2);
        owns.shift();
      }
      return { former: null };
    }
    const [former, formerSecond = 0] = [owns[place], seconds[2 * place + 1]];
    if (!former || seconds[2 * place] !== day) return null;
    if (!isLater({ own, second }, { own: former, second: formerSecond })) return null;
    owns[place] = own;
    seconds[2 * place + 1] = second;
    return { former };
  }

  toString(): string {
    const { seconds, owns } = this;
    if (owns.length === 0) return '';
    const parts: unknown[] = [EVENT_DIMENSIONS];
    for (const [place, own] of owns.entries()) {
      if (own.text !== owns[place - 1]?.text) parts.push(own.values);
      parts.push(seconds[2 * place], seconds[2 * place + 1]);
    }
    return JSON.stringify(parts);
  }
}

/** Within a second, the greater values are the later ones. */
const isLater = (event: VersionAt, latest: VersionAt): boolean =>
  event.second === latest.second ? event.own.text > latest.own.text : event.second > latest.second;

const UNREADABLE = 'The versions of days cannot be parsed';

const isTexts = (values: unknown): values is string[] =>
  Array.isArray(values) && values.every((one) => typeof one === 'string');
