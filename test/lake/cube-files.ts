import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { writeNames } from '#money';
import { mergeMonths } from '#rollup/months';
import { segmentId, UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import { readReportSums } from '../../src/reports/engine/group-sums.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';
import { migrate } from '../helpers/workerd.ts';

const CREATIVES = ['crt_1', 'crt_2', 'crt_3'];
const COUNTRIES = ['de', 'us', 'br', 'jp'];
const DAYS = ['2026-01-01', '2026-01-31', '2026-02-14', '2026-03-31'];
const SEGMENTS = new Map(
  COUNTRIES.map((country) => {
    const segment = { ...UNKNOWN_SEGMENT, country, os: 'ios', app_version: '1' };
    return [segmentId(segment), segment];
  }),
);
/** Devices of January that are active in January, February and March. */
const AGES = [0, 1, 40, 80];
const NOW = Date.UTC(2026, 5, 1);

export type CubeInFiles = {
  /** What a report says of each creative and country: installs, impressions and ad revenue in dollars. */
  reported: () => Promise<Map<string, [number, number, string]>>;
  /** Active devices by day of acquisition and age. */
  activity: [string, number, number][];
  stop: () => Promise<void>;
};

/** Fills the cube of an application, merges its months and copies what is published into a folder. */
export async function writeCube(folder: string, applicationId: string): Promise<CubeInFiles> {
  const local = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: 'export default {}',
      d1Databases: { DB: 'cube' },
      r2Buckets: { RAW_EVENTS: 'cube' },
    }),
  );
  const DB = (await local.getD1Database('DB')) as unknown as D1Database;
  const RAW_EVENTS = (await local.getR2Bucket('RAW_EVENTS')) as unknown as R2Bucket;
  await migrate(DB);
  const segmentOf = (id: number) => SEGMENTS.get(id) ?? UNKNOWN_SEGMENT;
  for (const [run, day] of DAYS.entries()) {
    const source = { applicationId, shard: 0, sequence: run + 1 };
    const daily = new Additions('rollup_daily');
    const cohorts = new Additions('cohort_activity');
    for (const [at, creative_id] of CREATIVES.entries()) {
      for (const [place, id] of [...SEGMENTS.keys()].entries()) {
        const key = { application_id: applicationId, day, creative_id };
        daily.add({ ...key, currency: '' }, id, { installs: 1 + at + run });
        const revenue = 10 ** 15 + 7 * at + place;
        daily.add({ ...key, currency: 'usd' }, id, { impressions: 3 + place, ad_revenue: revenue });
        const cohort = { application_id: applicationId, creative_id, acquired_day: '2026-01-05' };
        cohorts.add({ ...cohort, age: AGES[run] ?? 0 }, id, { active_devices: 5 - run });
      }
    }
    await addRun(DB, source, daily, segmentOf);
    await addRun(DB, { ...source, sequence: 100 + run }, cohorts, segmentOf);
  }
  for (const id of CREATIVES) {
    await DB.prepare(
      `INSERT INTO creatives (id, application_id, adset_id, name, token, created_at) VALUES (?1, ?2, 'ads_1', 'Creative ' || ?1, ?1, 0)`,
    )
      .bind(id, applicationId)
      .run();
  }
  await DB.batch([
    DB.prepare(
      "INSERT INTO adsets (id, application_id, campaign_id, name, created_at) VALUES ('ads_1', ?, 'cmp_1', 'Video', 0)",
    ).bind(applicationId),
    DB.prepare(
      "INSERT INTO campaigns (id, application_id, name, created_at) VALUES ('cmp_1', ?, 'Spring', 0)",
    ).bind(applicationId),
    DB.prepare(
      "INSERT INTO applications (id, team_id, name, timezone, currency, created_at) VALUES (?, 'team', 'Game', 'UTC', 'usd', 0)",
    ).bind(applicationId),
    DB.prepare(
      `INSERT INTO costs (application_id, day, campaign, country, os, network, currency, amount, clicks, updated_at)
       VALUES (?1, '2026-01-01', 'Spring', 'de', 'ios', 'meta', 'usd', 12345678901, 7, 0), (?1, '2026-03-31', 'Spring', '', '', '', 'usd', 1, NULL, 0)`,
    ).bind(applicationId),
  ]);
  await mergeMonths({ DB, RAW_EVENTS }, NOW);
  await writeNames({ DB, RAW_EVENTS }, Date.now());
  const { objects } = await RAW_EVENTS.list();
  for (const { key } of objects) {
    const object = await RAW_EVENTS.get(key);
    await mkdir(path.dirname(path.join(folder, key)), { recursive: true });
    await writeFile(path.join(folder, key), new Uint8Array((await object?.arrayBuffer()) ?? []));
  }
  const reported = async () => {
    const found = new Map<string, [number, number, string]>();
    const application = { id: applicationId, teamId: 'team', timezone: 'UTC', currency: 'usd' };
    for (const creative of CREATIVES) {
      for (const country of COUNTRIES) {
        const { total } = await readReportSums(
          { DB, RAW_EVENTS },
          application as Parameters<typeof readReportSums>[1],
          {
            ...{ names: [], from: '2026-01-01', to: '2026-03-31', reporting: 'usd', limit: 10 },
            filters: { creative_id: [creative], country: [country] },
            metrics: ['installs', 'impressions', 'ad_revenue'],
            wantsTotals: true,
          },
        );
        const { installs, impressions, adRevenue } = total;
        const text = String(adRevenue).padStart(10, '0');
        const dollars = `${text.slice(0, -9)}.${text.slice(-9)}`;
        found.set(JSON.stringify([creative, country]), [installs, impressions, dollars]);
      }
    }
    return found;
  };
  const devices = (run: number) => CREATIVES.length * COUNTRIES.length * (5 - run);
  return {
    reported,
    activity: AGES.map((age, run) => ['2026-01-05', age, devices(run)]),
    stop: () => local.dispose(),
  };
}
