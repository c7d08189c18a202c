import { addDays } from '#lib/time';
import type { Sent } from './history.ts';
import { isPaid, money } from './naive.ts';
import { monday, type Row } from './setup.ts';

// Metrics of distinct devices, counted from the raw events.

type Spend = Parameters<typeof money>[0][number] & { day: string; country: string };
type RateOn = Parameters<typeof money>[1];

export const DEVICE_METRICS = 'mau,stickiness,payer_rate,cost_per_payer';
/** The groupings, with the days and the events that each of their rows has. */
const PARTS: Record<string, (row: Row) => { has: (day: string) => boolean; country?: string }> = {
  day: (row) => ({ has: (day) => day === row.day }),
  week: (row) => ({ has: (day) => weekOf(day) === row.week }),
  month: (row) => ({ has: (day) => day.slice(0, 7) === row.month }),
  country: (row) => ({ has: () => true, country: String(row.country ?? '') }),
  'day,country': (row) => ({ has: (day) => day === row.day, country: String(row.country ?? '') }),
};
export const DEVICE_GROUPINGS = Object.keys(PARTS);

/** ISO 8601: the week of a year that has its Thursday. */
function weekOf(day: string): string {
  const thursday = addDays(monday(day), 3);
  const year = thursday.slice(0, 4);
  const days = (Date.parse(thursday) - Date.parse(`${year}-01-01`)) / 86_400_000;
  return `${year}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`;
}

const devicesOf = (events: readonly Sent[]) => new Set(events.map(({ device }) => device)).size;
const per = (above: number, below: number) => (below === 0 ? null : above / below);

/** The metrics of a row; of the totals without one. `days` are those of the period that are not before the first event. */
export function deviceFigures(
  { sent, costs, days, rateOn }: { sent: Sent[]; costs: Spend[]; days: string[]; rateOn: RateOn },
  groups?: string,
  row: Row = {},
) {
  const { has, country } = (groups && PARTS[groups]?.(row)) || { has: () => true, country: undefined };
  const isOwn = (of: { country: string }) => country === undefined || of.country === country;
  const own = days.filter(has);
  // A row of costs alone may be of days before the first event.
  const last = own.at(-1) ?? String(row.day ?? days.at(-1));
  const events = sent.filter(isOwn);
  const active = events.filter(({ day }) => own.includes(day));
  const daily = own.reduce((sum, day) => sum + devicesOf(active.filter((event) => event.day === day)), 0);
  const month = events.filter(({ day }) => day > addDays(last, -28) && day <= last);
  const spend = money(
    costs.filter((cost) => isOwn(cost) && has(cost.day)),
    rateOn,
  );
  const payers = new Set(events.filter(isPaid).map(({ device }) => device));
  const acquired = active.filter(({ type, creative }) => type === 'install' && creative !== null);
  return {
    mau: devicesOf(month),
    stickiness: own.length === 0 ? null : per(daily / own.length, devicesOf(month)),
    payer_rate: per(devicesOf(active.filter(isPaid)), devicesOf(active)),
    cost_per_payer:
      spend === 0 ? null : per(spend, acquired.filter(({ device }) => payers.has(device)).length),
  };
}
