import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { counterOf } from '#counting';
import { inflateText } from '#lib/encoding/deflate';
import type { Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';
import { askReport, type Report, startOracle } from './setup.ts';

// What was counted of an erased device stays in every figure, under no identity: an erasure changes no report.

const QUESTIONS: [report: string, query: string][] = [
  ['performance', ''],
  ['performance', 'group_by=day'],
  ['performance', 'group_by=week'],
  ['performance', 'group_by=creative'],
  ['performance', 'group_by=country,os'],
  ['performance', 'attribution=paid'],
  ['retention', 'cohort=day&group_by=creative'],
  ['ltv', 'cohort=week&group_by=country'],
  ['funnel', 'steps=install,ad,purchase'],
  ['funnel', 'steps=install,ad&window_hours=48&group_by=app_version'],
  ['compare', 'by=os&a=android&b=ios'],
  ['predicted-ltv', 'group_by=country'],
  ['ads', ''],
  ['client-totals', ''],
];

type Page = { columns: string[]; rows: (string | null)[][] };
/** What only further events of a device would need. */
const FURTHER = ['launches', 'active_versions', 'paid_versions'];

describe.each([1, 3])('an erasure from %d counters', (shards) => {
  const worker = startWorker();
  let tenant: Tenant;
  const before = new Map<string, Partial<Report>>();
  const erased = new Set<string>();

  const stubs = () =>
    Array.from({ length: shards }, (_, shard) => counterOf(env, tenant.application.id, shard));
  const ask = async ([name, query]: [string, string]): Promise<Omit<Report, 'counted_through'>> => {
    const { counted_through: _, ...report } = await askReport(worker, tenant, name, query);
    return report;
  };

  beforeAll(async () => {
    ({ tenant } = await startOracle(worker, { zone: 'Europe/Berlin', currency: 'usd', seed: 21, shards }));
    for (const question of QUESTIONS) before.set(question.join('?'), await ask(question));
    for (const stub of stubs()) {
      const ids = await runInDurableObject(stub, (_, { storage }) =>
        storage.sql.exec<{ id: string }>('SELECT id FROM devices ORDER BY id').toArray(),
      );
      for (const { id } of ids.filter((_, index) => index % 3 > 0)) {
        expect(await stub.eraseDevice(id)).toMatchObject({ found: true });
        erased.add(id);
      }
    }
    expect(erased.size).toBeGreaterThan(20);
  });

  it.each(QUESTIONS)('leaves %s?%s as it was', async (name, query) => {
    const { data = [], ...expected } = before.get(`${name}?${query}`) ?? {};
    // A list of devices has only those that are still known.
    const known = data.filter(({ device_id }) => typeof device_id !== 'string' || !erased.has(device_id));
    if (name === 'client-totals') expect(known.length).toBeLessThan(data.length);
    expect(await ask([name, query])).toEqual({ ...expected, data: known });
  });

  // Apart from what says that it was erased, until no event of it can come any more.
  it('leaves no id of the device anywhere in its counter', async () => {
    for (const stub of stubs()) {
      const text = await runInDurableObject(stub, (_, { storage }) => {
        const tables = storage.sql
          .exec<{ name: string }>(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('erasures', 'file_erasures', 'erased_devices') AND name NOT GLOB '_cf_*'",
          )
          .toArray();
        const pages = storage.sql.exec<{ facts: ArrayBuffer }>('SELECT facts FROM device_pages').toArray();
        const facts = pages.map((page) => inflateText(Buffer.from(page.facts)));
        return (
          facts +
          JSON.stringify(tables.map(({ name }) => storage.sql.exec(`SELECT * FROM "${name}"`).toArray()))
        );
      });
      for (const id of erased) expect(text).not.toContain(id);
    }
  });

  it('leaves no times of its activity, which only further events would need', async () => {
    // Of all counters together: one of three may keep no device that paid.
    const kept = new Set<string>();
    const left = new Set<string>();
    for (const stub of stubs()) {
      const pages = await runInDurableObject(stub, (_, { storage }) =>
        storage.sql
          .exec<{ facts: ArrayBuffer }>('SELECT facts FROM device_pages')
          .toArray()
          .map(({ facts }): Page => JSON.parse(inflateText(Buffer.from(facts)))),
      );
      for (const { columns, rows } of pages)
        for (const row of rows)
          for (const name of FURTHER)
            if (row[columns.indexOf(name)] !== '') (row[0]?.startsWith('dev_') ? kept : left).add(name);
    }
    expect(kept).toEqual(new Set(FURTHER));
    expect(left).toEqual(new Set());
  });
});
