import type { Backfill, ConnectorJob } from '#db';
import { daysOf } from '#lib/calendar';
import { addDays, clockHour, DAY_MS, dayIn, HOUR_MS } from '#lib/time';
import type { ConnectorRow } from './connector-row.ts';
import type { ConnectorKind } from './kinds.ts';

// Which days a run reads, and when the next one is due. Pure.

/** The days that a connector reads when it is new; a mediation platform may keep no more than 14. Networks revise costs for as long. */
const FIRST_DAYS = 7;
/** After a long failure. What is older takes a backfill. */
const MAX_MISSED_DAYS = 30;
/** A step of a backfill. */
const STEP_DAYS = 7;
/** By then, networks have counted the day before. */
const COSTS_HOUR = 4;

export type Window = Pick<ConnectorJob, 'from' | 'to' | 'isBackfill'>;

type Timing = Pick<ConnectorRow, 'lastSuccessAt' | 'account' | 'backfill'>;

const zoneOf = (row: Timing, timezone: string) => row.account?.timezone ?? timezone;

/** The latest day that is complete: in UTC at mediation platforms, in the account's time zone at networks. */
export function latestDay(kind: ConnectorKind, row: Timing, timezone: string, now: number): string {
  if (kind.family === 'ad_revenue') return dayIn('UTC', now - kind.readyHour * HOUR_MS - DAY_MS);
  return addDays(dayIn(zoneOf(row, timezone), now), -1);
}

/** The days of a daily run: those that are complete and may have changed since the last success. */
export function dailyWindow(kind: ConnectorKind, row: Timing, timezone: string, now: number): Window {
  const to = latestDay(kind, row, timezone, now);
  const since = row.lastSuccessAt === null ? 0 : now - row.lastSuccessAt;
  const days =
    kind.family === 'costs'
      ? Math.min(MAX_MISSED_DAYS, Math.max(FIRST_DAYS, Math.floor(since / DAY_MS) + FIRST_DAYS - 1))
      : row.lastSuccessAt === null
        ? FIRST_DAYS
        : Math.min(FIRST_DAYS, Math.ceil(since / DAY_MS) + kind.revisedDays);
  return { from: addDays(to, 1 - days), to, isBackfill: false };
}

/** Whether days of a backfill are left. */
export const isPending = ({ next, to }: Backfill): boolean => next <= to;

/** The days of the next run: those of a backfill, unless the daily run is due. */
export function nextWindow(kind: ConnectorKind, row: Timing, timezone: string, now: number): Window {
  const { backfill } = row;
  if (!backfill || !isPending(backfill) || now >= backfill.dailyAt)
    return dailyWindow(kind, row, timezone, now);
  const [last = backfill.next] = daysOf(backfill.next, backfill.to).slice(0, STEP_DAYS).slice(-1);
  return { from: backfill.next, to: last, isBackfill: true };
}

/** The next time that another day is complete. */
export function nextDailyAt(kind: ConnectorKind, row: Timing, timezone: string, now: number): number {
  if (kind.family === 'ad_revenue') {
    const today = Date.parse(dayIn('UTC', now)) + kind.readyHour * HOUR_MS;
    return today > now ? today : today + DAY_MS;
  }
  const zone = zoneOf(row, timezone);
  let at = (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  while (clockHour(zone, at) !== COSTS_HOUR) at += HOUR_MS;
  return at;
}
