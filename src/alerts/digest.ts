import { changeOf, type Metric } from '#catalogue';
import { settleCounters } from '#counting';
import { weekdayOf } from '#lib/calendar';
import { count, money, percent, signOf } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { addDays, type DayRange } from '#lib/time';
import { earlierDays, isOfGroup, PerformanceQuery, reportPerformance } from '#reports';
import { type WatchedApplication, yesterdayOf } from './check.ts';
import type { Digest } from './digest-time.ts';
import { numberOf } from './evaluate.ts';
import type { Message } from './message.ts';

const CAMPAIGNS_NAMED = 3;
const CAMPAIGNS_READ = 100;

/** The performance report for a range of days, in the team API's format. */
const readPerformance = (
  env: Env,
  application: WatchedApplication,
  period: DayRange & { group_by: string; limit?: number },
  now: number,
) =>
  reportPerformance(
    env,
    application,
    PerformanceQuery.parse({ application_id: application.id, ...period }),
    now,
  );

type Totals = Awaited<ReturnType<typeof readPerformance>>['totals'];

/** A change for people: `+12%`, or the amount if a share has no meaning. Empty if there is nothing to compare with. */
function changeText(
  name: Metric,
  now: number | null,
  before: number | null,
  show: (value: number) => string,
): string {
  const change = changeOf(name, now, before);
  if (!change) return '';
  return `${signOf(change.by) || '±'}${change.in === 'amount' ? show(Math.abs(change.by)) : percent(Math.abs(change.by))}`;
}

function figuresOf(now: Totals, before: readonly Totals[], currency: string): Message['figures'] {
  const amount = (value: number | null) => money(value, currency);
  const figure = (
    label: string,
    name: Metric,
    show: (value: number | null) => string,
    compared: readonly Totals[] = before,
  ) => {
    const value = numberOf(now[name]);
    return {
      label,
      value: show(value),
      changes: compared.map((one) => changeText(name, value, numberOf(one[name]), show)),
    };
  };
  return [
    figure('Revenue', 'revenue', amount),
    figure('Installs', 'installs', count),
    figure('DAU', 'dau', count),
    figure('Spend', 'spend', amount),
    figure('CPI', 'cpi', amount),
    // Devices keep earning, so that of earlier days is always ahead.
    figure('ROAS so far', 'roas', percent, []),
  ];
}

/** The days of a digest, what it calls them, and the earlier days that it compares them with. */
function daysOf(digest: Exclude<Digest, 'never'>, yesterday: string) {
  if (digest === 'weekly') {
    const days = { from: addDays(yesterday, -6), to: yesterday };
    return {
      days,
      name: `${days.from} to ${days.to}`,
      compared: [{ name: 'the week before', days: earlierDays(days, 'previous') }],
    };
  }
  const days = { from: yesterday, to: yesterday };
  return {
    days,
    name: `${weekdayOf(yesterday)}, ${yesterday}`,
    compared: [
      { name: 'the day before', days: earlierDays(days, 'previous') },
      { name: `${weekdayOf(yesterday)} a week before`, days: earlierDays(days, 'weekdays') },
    ],
  };
}

/**
 * The last full day, compared with the day before and with the same weekday a week before, or the last seven full days, compared with the
 * seven before: in the application's time zone and currency.
 */
export async function composeDigest(
  env: Env,
  application: WatchedApplication,
  digest: Exclude<Digest, 'never'>,
  now: number,
): Promise<{ subject: string; message: Message }> {
  const { days, name, compared } = daysOf(digest, yesterdayOf(application, now));
  await settleCounters(env, application);
  const [current, ...before] = await Promise.all([
    readPerformance(env, application, { ...days, group_by: 'campaign', limit: CAMPAIGNS_READ }, now),
    ...compared.map((earlier) =>
      readPerformance(env, application, { ...earlier.days, group_by: 'month' }, now),
    ),
  ]);
  const { currency } = current;
  const top = current.data
    .filter((row) => row.campaign !== null && isOfGroup(row) && Number(row.revenue) > 0)
    .sort((left, right) => Number(right.revenue) - Number(left.revenue))
    .slice(0, CAMPAIGNS_NAMED)
    .map((row) => `${isolate(String(row.campaign))} (${money(Number(row.revenue), currency)})`);
  return {
    subject: `${isolate(application.name)}: ${digest} digest, ${name}`,
    message: {
      heading: `${isolate(application.name)} · ${name}`,
      figures: figuresOf(
        current.totals,
        before.map(({ totals }) => totals),
        currency,
      ),
      comparedWith: compared.map((earlier) => earlier.name),
      sentences: top.length > 0 ? [`Top campaigns by revenue: ${top.join(', ')}.`] : [],
      link: {
        path: `/?${new URLSearchParams({ app: application.id, ...days })}`,
        label: 'Open the overview of these days',
      },
    },
  };
}
