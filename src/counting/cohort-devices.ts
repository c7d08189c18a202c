import { gt, sql } from 'drizzle-orm';
import type { DeviceDescription } from './api.ts';
import { ofFilter } from './queries.ts';
import type { Cohort, DeviceFilter } from './questions.ts';
import { devices } from './schema.ts';
import type { Store } from './store.ts';

/** The number of devices in memory at once. */
const PAGE = 2_000;

/** The facts about a device that questions use. All are in its row; its events are not read. */
export type CohortDevice = {
  acquiredDay: string;
  /** Empty for an organic device. */
  creativeId: string;
  /** Empty if unknown. */
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
 * The devices of a cohort that match a question, without those of editors and debug builds. Between pages the object can do other work, so a
 * large cohort does not hold up events. The answer may or may not include changes from that work.
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
