import * as z from 'zod';
import { isSegmentDimension, normalised, per, SEGMENT_DIMENSIONS, shownValue } from '#catalogue';
import { askOutcomes, type DeviceFilter, type OutcomesAnswer } from '#counting';
import { findNames } from '#creatives';
import { database } from '#db';
import {
  COUNTRY_FAULT,
  currencyCode,
  invalidRequest,
  optionalDay,
  optionalText,
  toCountryFilter,
} from '#http';
import { compareMeans, compareProportions, type Difference } from '#lib/statistics/compare';
import { dayIn } from '#lib/time';
import { readRates } from './cohorts/rates.ts';
import { type DeviceGrouping, GROUPS } from './device-groups.ts';
import { isNamed } from './dimensions.ts';
import { unconvertedOfDevices } from './engine/unrated.ts';
import { deviceFilterOf } from './payers.ts';
import { checkPeriod, dayNumbers, filtersOf, netOrGross, period, type Reported } from './query.ts';

const SUBJECTS = [...GROUPS, 'period'] as const;

export const CompareQuery = z
  .object({
    ...period,
    by: z.enum(SUBJECTS, { error: `must be one of ${SUBJECTS.join(', ')}` }),
    a: optionalText(128),
    b: optionalText(128),
    b_from: optionalDay(),
    b_to: optionalDay(),
    days: dayNumbers('1,7,30'),
    currency: currencyCode().optional(),
    net: netOrGross(),
  })
  .superRefine(checkPeriod)
  .superRefine(checkSides);
export type CompareQuery = z.infer<typeof CompareQuery>;

type SidesQuery = Pick<CompareQuery, 'by' | 'a' | 'b' | 'b_from' | 'b_to'>;

function checkSides({ by, a, b, b_from, b_to }: SidesQuery, ctx: z.RefinementCtx): void {
  const fault = (path: string, message: string) => ctx.addIssue({ code: 'custom', path: [path], message });
  const require = (fields: Record<string, string | undefined>, isWanted: boolean) => {
    for (const [path, value] of Object.entries(fields)) {
      if (isWanted && value === undefined) fault(path, `is required with by=${by}`);
      if (!isWanted && value !== undefined) fault(path, `must not be used with by=${by}`);
    }
  };
  require({ a, b }, by !== 'period');
  require({ b_from, b_to }, by === 'period');
  if (b_from && b_to && b_from > b_to) fault('b_to', 'must not be before b_from');
  for (const [path, value] of Object.entries({ a, b })) {
    if (by === 'country' && value !== undefined && toCountryFilter(value) === null) {
      fault(path, COUNTRY_FAULT);
    }
  }
  if (a !== undefined && a === b) fault('b', 'must not be the same as a');
}

type ComparedSide = { name: string | null; from: string; to: string; filter: DeviceFilter };

/**
 * Compares the devices of two creatives, ad sets, campaigns, values of a segment's dimension or acquisition periods: retention on
 * day N, payers by day N, and revenue per device by day N. Only devices whose day N is over count. Differences are b - a. Throws
 * `invalid_request` if the application has no `a` or `b`.
 */
export async function reportCompare(env: Env, application: Reported, query: CompareQuery, now: number) {
  const today = dayIn(application.timezone, now);
  const currency = query.currency ?? application.currency;
  const [a, b] = await sidesOf(env, application.id, query);
  const last = a.to > b.to ? a.to : b.to;
  const rateDay = last < today ? last : today;
  const rates = await readRates(env.DB, application, {
    from: a.from < b.from ? a.from : b.from,
    to: last,
    currency,
    day: rateDay,
  });
  const ask = ({ from, to, filter }: ComparedSide) =>
    askOutcomes(env, application, {
      ...{ cohort: { from, to }, filter, days: query.days, today, rates },
      net: query.net ? { storeFeeBasisPoints: application.storeFeeBasisPoints } : null,
    });
  const [first, second] = await Promise.all([ask(a), ask(b)]);
  return {
    data: rowsOf(first, second),
    a: { name: a.name, from: a.from, to: a.to, size: first.size },
    b: { name: b.name, from: b.from, to: b.to, size: second.size },
    currency,
    net: query.net,
    rate_day: rateDay,
    timezone: application.timezone,
  };
}

async function sidesOf(
  env: Env,
  applicationId: string,
  query: CompareQuery,
): Promise<[ComparedSide, ComparedSide]> {
  const { by, from, to } = query;
  const filtered = await deviceFilterOf(env.DB, applicationId, filtersOf(query));
  if (by === 'period') {
    return [
      { name: null, from, to, filter: filtered },
      { name: null, from: query.b_from ?? from, to: query.b_to ?? to, filter: filtered },
    ];
  }
  const side = async (path: 'a' | 'b', value = ''): Promise<ComparedSide> => {
    const name = isNamed(by)
      ? ((await findNames(database(env.DB), applicationId, by, [value])).get(value)?.name ?? null)
      : shownValue(by, normalised(by, value));
    if (name === null)
      throw invalidRequest([{ path, message: `must be the id of one of this application's ${by}s` }]);
    const own = await deviceFilterOf(env.DB, applicationId, filterOf(by, value));
    return { name, from, to, filter: narrow(filtered, own) };
  };
  return await Promise.all([side('a', query.a), side('b', query.b)]);
}

const filterOf = (by: DeviceGrouping, value: string) =>
  isSegmentDimension(by) ? { [by]: [normalised(by, value)] } : { [`${by}_id`]: [value] };

/** The devices that both filters select. */
function narrow(left: DeviceFilter, right: DeviceFilter): DeviceFilter {
  const both = (some: string[] | undefined, others: string[] | undefined) =>
    some && others ? some.filter((value) => others.includes(value)) : (some ?? others);
  const creativeIds = both(left.creativeIds, right.creativeIds);
  const segment = SEGMENT_DIMENSIONS.flatMap((name) => {
    const values = both(left.segment?.[name], right.segment?.[name]);
    return values ? [[name, values] as const] : [];
  });
  return { ...left, ...(creativeIds ? { creativeIds } : {}), segment: Object.fromEntries(segment) };
}

const TESTS = { proportions: 'two-proportion z-test', means: "Welch's t-test" } as const;

function rowsOf(first: OutcomesAnswer, second: OutcomesAnswer) {
  return first.days.flatMap((a, index) => {
    const b = second.days[index];
    if (!b) return [];
    const proportion = (metric: 'retention' | 'conversion', count: 'active' | 'payers') => ({
      metric,
      day: a.day,
      a_devices: a.eligible,
      a_count: a[count],
      a: per(a[count], a.eligible),
      b_devices: b.eligible,
      b_count: b[count],
      b: per(b[count], b.eligible),
      ...columnsOf(
        compareProportions({ size: a.eligible, count: a[count] }, { size: b.eligible, count: b[count] }),
      ),
      test: TESTS.proportions,
    });
    const [left, right] = [a.revenue, b.revenue];
    const arpu = {
      metric: 'arpu' as const,
      day: a.day,
      a_devices: a.eligible,
      a_count: null,
      a: left && left.size > 0 ? left.mean : null,
      b_devices: b.eligible,
      b_count: null,
      b: right && right.size > 0 ? right.mean : null,
      ...columnsOf(left && right && compareMeans(left, right)),
      test: TESTS.means,
      ...unconvertedOfDevices([a, b]),
    };
    return [proportion('retention', 'active'), proportion('conversion', 'payers'), arpu];
  });
}

const columnsOf = (found: Difference | null) => ({
  difference: found?.difference ?? null,
  low: found?.low ?? null,
  high: found?.high ?? null,
  p_value: found?.pValue ?? null,
});
