import type * as z from 'zod';
import { requiredText } from '#http';
import { isDay } from '#lib/time';

const day = () => requiredText(10).refine(isDay, 'must be a day, as YYYY-MM-DD');

/** The longest span of days that one report covers. */
export const MAX_SPAN_DAYS = 1100;

/** What every report asks: an application and inclusive days in its time zone. */
export const period = {
  application_id: requiredText(128),
  from: day(),
  to: day(),
};

/** A comma-separated list, without blanks and repeats. */
export const listOf = (text: string) =>
  [...new Set(text.split(',').map((part) => part.trim()))].filter((part) => part !== '');

export const orderedPeriod = {
  check: ({ from, to }: { from: string; to: string }) => from <= to,
  fault: { path: ['to'], error: 'must not be before from' } satisfies z.core.$ZodCustomParams,
};
