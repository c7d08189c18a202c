import { gt, sql } from 'drizzle-orm';
import type { DeviceDescription } from './api.ts';
import { ofFilter } from './queries.ts';
import type { Cohort, DeviceFilter } from './questions.ts';
import { devices } from './schema.ts';
import type { Store } from './store.ts';

/** So many devices are in memory at once. */
const PAGE = 2_000;

/** What a question asks about is told of each device by its row, none of its events. */
export type CohortDevice = {
  acquiredDay: string;
  /** Empty for an organic device. */
  creativeId: string;
  /** Empty where it is not known. */
  country: string;
  os: string;
  appVersion: string;
  activeAges: string;
  paidDays: string;
  steps: string;
  revenue: string;
};

type Row = [
  id: string,
  acquiredDay: string,
  creativeId: string,
  description: string,
  activeAges: string,
  paidDays: string,
  steps: string,
  revenue: string,
];

type Described = Pick<DeviceDescription, 'country' | 'os' | 'appVersion' | 'test'>;

/**
 * The devices of a cohort that a question is about, those of editors and debug builds left out. Between pages the object may do
 * other work, so a large cohort holds up no events; what that changes may be in the answer or not.
 */
export async function* devicesOf(
  store: Store,
  { from, to }: Cohort,
  filter: DeviceFilter,
): AsyncGenerator<CohortDevice[]> {
  let last = '';
  for (;;) {
    const rows = store.values<Row>(sql`
      SELECT ${devices.id}, ${devices.acquiredDay}, ${devices.creativeId}, ${devices.description}, ${devices.activeAges},
        ${devices.paidDays}, ${devices.steps}, ${devices.revenue}
      FROM ${devices} WHERE ${gt(devices.id, last)} AND ${devices.acquiredDay} BETWEEN ${from} AND ${to} ${ofFilter(filter)}
      ORDER BY ${devices.id} LIMIT ${PAGE}`);
    const page: CohortDevice[] = [];
    for (const [, acquiredDay, creativeId, text, activeAges, paidDays, steps, revenue] of rows) {
      const { country, os, appVersion, test }: Described = JSON.parse(text);
      if (test) continue;
      page.push({
        acquiredDay,
        creativeId,
        country: country ?? '',
        os,
        appVersion: appVersion ?? '',
        activeAges,
        paidDays,
        steps,
        revenue,
      });
    }
    yield page;
    const next = rows.at(-1)?.[0];
    if (next === undefined || rows.length < PAGE) return;
    last = next;
    await scheduler.wait(0);
  }
}
