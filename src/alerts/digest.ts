import { count, money, percent } from '#lib/format';
import { addDays } from '#lib/time';
import { numberOf, readPerformance, type WatchedApplication, yesterdayOf } from './check.ts';
import type { Digest } from './digest-time.ts';
import { weekdayOf } from './findings.ts';

const CAMPAIGNS_NAMED = 3;

type Totals = Awaited<ReturnType<typeof readPerformance>>['totals'];

/** A change for people: `+12%`. Empty if there is nothing to compare with. */
function changeOf(now: number | null, before: number | null): string {
  if (now === null || before === null || before === 0) return '';
  const change = (now - before) / before;
  return ` (${change > 0 ? '+' : change < 0 ? '−' : '±'}${percent(Math.abs(change))})`;
}

function lines(now: Totals, before: Totals, currency: string): string[] {
  const line = (label: string, name: keyof Totals, show: (value: number | null) => string) =>
    `${label} ${show(numberOf(now[name]))}${changeOf(numberOf(now[name]), numberOf(before[name]))}`;
  const amount = (value: number | null) => money(value, currency);
  return [
    line('Revenue', 'revenue', amount),
    line('Installs', 'installs', count),
    line('Active devices a day', 'dau', count),
    line('Spend', 'spend', amount),
    line('CPI', 'cpi', amount),
    line('ROAS', 'roas', percent),
  ];
}

/**
 * A plain-text message that compares the last full day with the same weekday a week before, or the last seven full days with the seven
 * before.
 */
export async function composeDigest(
  env: Env,
  application: WatchedApplication,
  digest: Exclude<Digest, 'never'>,
  origin: string,
  now: number,
): Promise<{ subject: string; body: string }> {
  const to = yesterdayOf(application, now);
  const from = digest === 'daily' ? to : addDays(to, -6);
  const earlier = { from: addDays(from, -7), to: addDays(to, -7) };
  const [current, before] = await Promise.all([
    readPerformance(env, application, { from, to, group_by: 'campaign', limit: 100 }, now),
    readPerformance(env, application, { ...earlier, group_by: 'month' }, now),
  ]);
  const { currency } = current;
  const named = current.data
    .filter((row) => row.campaign !== null && !row.is_other && Number(row.revenue) > 0)
    .sort((left, right) => Number(right.revenue) - Number(left.revenue))
    .slice(0, CAMPAIGNS_NAMED)
    .map((row) => `${row.campaign} ${money(Number(row.revenue), currency)}`);
  const when = digest === 'daily' ? `${weekdayOf(to)} ${to}` : `${from} to ${to}`;
  const against = digest === 'daily' ? `${weekdayOf(to)} a week before` : 'the seven days before';
  const view = new URLSearchParams({ app: application.id, from, to });
  return {
    subject: `${application.name}: ${when}`,
    body: [
      `${application.name}, ${when} (in brackets: change from ${against})`,
      ...lines(current.totals, before.totals, currency),
      ...(named.length > 0 ? [`Top campaigns by revenue: ${named.join(', ')}`] : []),
      `${origin}/?${view}`,
    ].join('\n'),
  };
}
