import { getAllTimezones } from 'countries-and-timezones';

let countries: ReadonlyMap<string, string> | undefined;

/** By zone, also by former names, which devices still report. A zone of several countries is that of the first, which it is named for. */
const readTable = (): ReadonlyMap<string, string> =>
  new Map(
    Object.values(getAllTimezones({ deprecated: true })).flatMap(({ name, countries: [first] }) =>
      first === undefined ? [] : [[name.toLowerCase(), first.toLowerCase()] as const],
    ),
  );

/** The country (ISO 3166, lower case) of a time zone, by any of the zone's names; null if it belongs to none. */
export function countryOfTimezone(timezone: string): string | null {
  countries ??= readTable();
  return countries.get(timezone.toLowerCase()) ?? null;
}
