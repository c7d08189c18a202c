import { DEFAULT_LOAD, databaseBytes, fullnessOf, fullOnDay, type Load, shardsOf } from './compute.ts';
import { LIMITS } from './limits.ts';

const number = (value: number) =>
  value >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(2);
const bytes = (value: number) =>
  value >= 1e9 ? `${(value / 1e9).toFixed(1)} GB` : `${Math.round(value / 1e6)} MB`;
const percent = (share: number) => `${share < 0.1 ? (share * 100).toFixed(1) : Math.round(share * 100)} %`;

/** What `npm run capacity` prints. */
export function describeCapacity(load: Load): string {
  const all = fullnessOf(load);
  const lines = all.map(({ name, used, share }) => {
    const { limit, unit, source } = LIMITS[name];
    return `  ${percent(share).padStart(8)}  ${number(used)} of ${number(limit)} ${unit}  (${source})`;
  });
  const tables = Object.entries(databaseBytes(load))
    .filter(([, size]) => size > 0)
    .map(([table, size]) => `${table} ${bytes(size)}`);
  const day = fullOnDay(load);
  const broken = all.filter(({ share }) => share > 1);
  const [first] = all;
  const verdict =
    broken.length > 0
      ? broken.map(({ name }) => `${name} does not fit: ${LIMITS[name].remedy}.`)
      : [
          `Everything fits. First to break: ${first?.name}, at ${number(load.eventsPerDay / (first?.share ?? 1))} events a day.`,
        ];
  return [
    `${number(load.eventsPerDay)} events a day in ${load.applications} application(s), ${load.batch} per request, ${shardsOf(load)} counter(s) each`,
    '',
    ...lines,
    '',
    `The database after a year: ${tables.join(', ')}. ${day === null ? 'It is not full within ten years.' : `It is full on day ${day}.`}`,
    ...verdict,
  ].join('\n');
}

const STEPS = [10e6, 100e6, 1e9];

/** The table of docs/performance.md. */
export function capacityTable(): string {
  const rows = STEPS.flatMap((eventsPerDay) =>
    [1, 500].map((batch) => {
      const load = { ...DEFAULT_LOAD, eventsPerDay, batch };
      const all = fullnessOf(load);
      const fullest = all.slice(0, 3).map(({ name, share }) => `${name} ${percent(share)}`);
      const day = fullOnDay(load);
      return `| ${number(eventsPerDay)} | ${batch} | ${shardsOf(load)} | ${fullest.join(', ')} | ${bytes(
        Object.values(databaseBytes(load)).reduce((total, size) => total + size, 0),
      )}${day === null ? '' : `, full on day ${day}`} |`;
    }),
  );
  return [
    '| events per day | per request | counters | the fullest limits | the database after a year |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
