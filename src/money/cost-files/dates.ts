import { DAY_MS } from '#lib/time';
import { plainNumber } from './amounts.ts';

// Days as exports write them. Pure.

/** Which of two numbers comes first: `day` as in 19/11/2026, `month` as in 11/19/2026. Null if a file does not show it. */
export type DayOrder = 'day' | 'month' | null;

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const SLASHED = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?:[ T,].*)?$/;

const dayOf = (year: string, month: string, day: string) =>
  `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;

/** The order of day and month that a file's dates agree on. */
export function findDayOrder(dates: Iterable<string>): DayOrder {
  const orders = new Set<DayOrder>();
  for (const text of dates) {
    const [, first, second] = SLASHED.exec(text) ?? [];
    if (Number(first) > 12) orders.add('day');
    if (Number(second) > 12) orders.add('month');
  }
  const [order = null, other] = orders;
  return other === undefined ? order : null;
}

/**
 * Accepts `46345`, as spreadsheets number days, `2026-11-19T00:00:00Z`, `2026/11/19`, `19.11.2026`, `2026年11月19日`, `2026. 11. 19.`, `20261119` and `Nov 19, 2026` as days, and
 * `11/19/2026` if the file's dates tell the order. Other orders would be guesses: their text is returned unchanged.
 */
export function parseDate(written: string, order: DayOrder = null): string {
  const text = plainNumber(written);
  const [, year, month, day] =
    /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)/.exec(text) ??
    /^(\d{4})[年년]\s*(\d{1,2})[月월]\s*(\d{1,2})[日일]/.exec(text) ??
    /^(\d{4})\.\s?(\d{1,2})\.\s?(\d{1,2})\.?(?!\d)/.exec(text) ??
    /^(20\d{2})(\d{2})(\d{2})$/.exec(text) ??
    [];
  if (year && month && day) return dayOf(year, month, day);
  const [, dotDay, dotMonth, dotYear] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\d)/.exec(text) ?? [];
  if (dotDay && dotMonth && dotYear) return dayOf(dotYear, dotMonth, dotDay);
  const [, first, second, slashYear] = SLASHED.exec(text) ?? [];
  if (first && second && slashYear && order !== null) {
    return order === 'day' ? dayOf(slashYear, second, first) : dayOf(slashYear, first, second);
  }
  return namedMonth(text) ?? serialDay(text) ?? written;
}

/** Day 0 of spreadsheets, with the 29 February 1900 that they count and that never was. */
const SERIAL_ORIGIN = Date.UTC(1899, 11, 30);

/** A day as spreadsheets number them, with or without a time: from 40000 (2009-07-06) to 60000 (2064-04-08). */
function serialDay(text: string): string | null {
  const [, days] = /^([45]\d{4}|60000)(?:[.,]\d+)?$/.exec(text) ?? [];
  return days === undefined
    ? null
    : new Date(SERIAL_ORIGIN + Number(days) * DAY_MS).toISOString().slice(0, 10);
}

/** `Nov 19, 2026`, `19 November 2026` or `19-Nov-2026`. */
function namedMonth(text: string): string | null {
  const [, before, name = '', after] =
    /^(\d{1,2})?[\s-]*([a-z]{3,9})\.?[\s-]+(\d{1,2},\s*\d{4}|\d{4})(?!\d)/i.exec(text) ?? [];
  const month = MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
  const [year = '', day = before] = (after ?? '').split(/,\s*/).reverse();
  if (month === 0 || day === undefined || year === '') return null;
  return dayOf(year, String(month), day);
}
