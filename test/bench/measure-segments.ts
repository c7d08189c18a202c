import type { Rig } from './rig.ts';
import { makeApplication, type Tenant } from './tenant.ts';
import { median } from './workload.ts';
import { YEAR_COUNTRY, YEAR_CREATIVE, YEAR_FROM, type YearSize, yearTo } from './year.ts';

// Reports by country against the same without countries, in turns, over a year. The first of each reads everything from the database in a new
// isolate, whose code is not compiled yet. Later ones find blocks in the cache of the isolate, except by creative and country, whose blocks do not fit.

export const FULL_YEAR: YearSize = { days: 365, creatives: 200, countries: 20 };
export const QUICK_YEAR: YearSize = { days: 90, creatives: 200, countries: 20 };
const ROUNDS = 3;
export const SEGMENT_STEPS = 1 + ROUNDS;

const REPORTS = {
  by_day: 'group_by=day',
  by_creative: 'group_by=creative',
  by_country: 'group_by=country',
  by_creative_in_one_country: `group_by=creative&country=${YEAR_COUNTRY}`,
  by_creative_and_country: 'group_by=creative,country',
  of_one_creative: `group_by=day&creative_id=${YEAR_CREATIVE}`,
  by_country_of_one_creative: `group_by=country&creative_id=${YEAR_CREATIVE}`,
} as const;
type Report = keyof typeof REPORTS;

export async function measureSegments(
  rig: Rig,
  tenant: Tenant,
  size: YearSize,
  step: (what: string) => void,
): Promise<Record<string, number>> {
  step(`${size.days} days of ${size.creatives} creatives and ${size.countries} countries`);
  const { applicationId } = await makeApplication(rig.db, tenant, 'Year');
  const filled = await fetch(new URL(`/year/${applicationId}`, await rig.url('control')), {
    method: 'POST',
    body: JSON.stringify(size),
  });
  if (!filled.ok) throw new Error(`filling a year answered ${filled.status}: ${await filled.text()}`);
  const time = async (query: string): Promise<number> => {
    const asked = `application_id=${applicationId}&from=${YEAR_FROM}&to=${yearTo(size)}&${query}`;
    const url = new URL(`/v1/reports/performance?${asked}`, await rig.url('service'));
    const startedAt = performance.now();
    const response = await fetch(url, { headers: { 'Service-Token': tenant.teamToken } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${query} answered ${response.status}: ${text}`);
    return performance.now() - startedAt;
  };
  const times = Object.fromEntries(Object.keys(REPORTS).map((name) => [name, [] as number[]])) as Record<
    Report,
    number[]
  >;
  for (let round = 0; round < ROUNDS; round++) {
    step(`reports by country, round ${round + 1} of ${ROUNDS}`);
    for (const [name, query] of Object.entries(REPORTS)) times[name as Report].push(await time(query));
  }
  const of = (name: Report) => median(times[name]);
  const figuresOf = (name: Report) => [
    [`report_year_${name}_ms`, of(name)],
    [`report_year_${name}_first_ms`, times[name][0] ?? Number.NaN],
  ];
  return {
    ...Object.fromEntries((Object.keys(REPORTS) as Report[]).flatMap(figuresOf)),
    report_ratio_by_country: of('by_country') / of('by_day'),
    report_ratio_by_creative_in_one_country: of('by_creative_in_one_country') / of('by_creative'),
    report_ratio_by_creative_and_country: of('by_creative_and_country') / of('by_creative'),
    report_ratio_by_country_of_one_creative: of('by_country_of_one_creative') / of('of_one_creative'),
  };
}
