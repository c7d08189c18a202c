import { count, moment, money, percent } from '#lib/format';
import { addDays } from '#lib/time';

// Compares figures with their limits. Pure: the figures are read elsewhere.

/** The result of a check. `firing` is null if there is not enough data to tell; the alert then keeps its state. */
export type Finding = { firing: boolean | null; text: string };

const WEEKS_COMPARED = 4;
/** With fewer weeks than this, there is no meaningful mean to compare a day with. */
const MIN_WEEKS = 2;
const CAMPAIGNS_NAMED = 5;
const HOUR_MS = 3_600_000;

const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' });
export const weekdayOf = (day: string) => weekday.format(Date.parse(`${day}T00:00:00Z`));

/** The first day whose figures are needed to compare same weekdays. */
export const firstComparedDay = (day: string) => addDays(day, -7 * WEEKS_COMPARED);

export type ChangeInput = {
  name: string;
  /** What follows the name and the day: `was` or `were`. */
  verb: string;
  day: string;
  thresholdPercent: number;
  /** By day. Days without data are absent. */
  values: ReadonlyMap<string, number | null>;
  show: (value: number) => string;
};

/** Compares a day's figure with the mean of the same weekday in the weeks before, counting only weeks since the first figure. */
export function findChange({ name, verb, day, thresholdPercent, values, show }: ChangeInput): Finding {
  const first = [...values.keys()].sort()[0] ?? day;
  const days = Array.from({ length: WEEKS_COMPARED }, (_, index) => addDays(day, -7 * (index + 1)));
  const earlier = days.filter((one) => one >= first).map((one) => (values.has(one) ? values.get(one) : 0));
  const known = earlier.flatMap((value) => value ?? []);
  const value = values.has(day) ? values.get(day) : 0;
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  if (known.length < MIN_WEEKS || value === null || value === undefined || !(mean > 0)) {
    return { firing: null, text: `Not enough weeks of ${name.toLowerCase()} to compare with yet.` };
  }
  const change = (value - mean) / mean;
  const weekdays = `the last ${known.length} ${weekdayOf(day)}s`;
  const against = `${percent(Math.abs(change))} ${change < 0 ? 'below' : 'above'} the mean of ${weekdays} (${show(mean)})`;
  return {
    firing: Math.abs(change) * 100 > thresholdPercent,
    text: `${name} on ${weekdayOf(day)}, ${day}, ${verb} ${show(value)}, ${change === 0 ? `equal to the mean of ${weekdays}` : against}.`,
  };
}

/** `lastEventAt` is null if the application never sent an event, or none for longer than counters remember. */
export function findSilence(input: {
  hours: number;
  lastEventAt: number | null;
  hasDevices: boolean;
  timezone: string;
  now: number;
}): Finding {
  const { hours, lastEventAt, hasDevices, timezone, now } = input;
  if (lastEventAt === null) {
    if (!hasDevices) return { firing: null, text: 'No event has arrived yet.' };
    return { firing: true, text: 'No event has arrived for more than a week.' };
  }
  const since = `${moment(lastEventAt, timezone).slice(0, 16)} (${timezone})`;
  const firing = now - lastEventAt > hours * HOUR_MS;
  const text = firing ? `No event has arrived since ${since}.` : `The last event arrived at ${since}.`;
  return { firing, text };
}

export type CampaignDay = { campaign: string; spend: number | null; installs: number };

export function findIdleSpend(input: {
  day: string;
  threshold: number;
  campaigns: readonly CampaignDay[];
  currency: string;
}): Finding {
  const { day, threshold, currency } = input;
  const idle = input.campaigns
    .flatMap(({ campaign, spend, installs }) =>
      spend !== null && spend > threshold && installs === 0 ? [{ campaign, spend }] : [],
    )
    .sort((left, right) => right.spend - left.spend);
  if (idle.length === 0) {
    return {
      firing: false,
      text: `On ${day} no campaign spent more than ${money(threshold, currency)} without installs.`,
    };
  }
  const named = idle
    .slice(0, CAMPAIGNS_NAMED)
    .map(({ campaign, spend }) => `${campaign} (${money(spend, currency)})`)
    .join(', ');
  const more =
    idle.length > CAMPAIGNS_NAMED ? ` and ${count(idle.length - CAMPAIGNS_NAMED)} more campaigns` : '';
  return { firing: true, text: `Spend without installs on ${day}: ${named}${more}.` };
}

/** `problems` are sentences. */
export function findProblems(problems: readonly string[], threshold: number): Finding {
  const firing = problems.length >= threshold;
  return { firing, text: problems.length === 0 ? 'Health shows no problems.' : problems.join(' ') };
}

/** Compares a ratio with its limit. `value` is null if there was no spend or it cannot be converted. */
export function findLimit(input: {
  name: string;
  value: number | null;
  limit: number;
  side: 'above' | 'below';
  show: (value: number) => string;
}): Finding {
  const { name, value, limit, side, show } = input;
  if (value === null) return { firing: null, text: `${name} of the last seven days is not known.` };
  const firing = side === 'above' ? value > limit : value < limit;
  const verdict = firing ? side : `not ${side}`;
  return { firing, text: `${name} of the last seven days is ${show(value)}, ${verdict} ${show(limit)}.` };
}
