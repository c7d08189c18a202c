import { and, asc, eq, gt } from 'drizzle-orm';
import type { SchemaElement } from 'hyparquet';
import { COST_DIMENSIONS, ofDimensions } from '#catalogue';
import {
  adsets,
  applications,
  campaigns,
  columnNames,
  costs,
  creatives,
  database,
  pagesOf,
  retryTransient,
  toStatement,
} from '#db';
import { NAMES, namesPrefix } from '#lake';
import { loadParquet } from '#lib/encoding/parquet';
import { listObjects } from '#lib/input/list-objects';
import { dayNumber, HOUR_MS } from '#lib/time';
import { writeEmptyMonths } from '#rollup';

// What other engines need beside raw events and months of the cube: names of creatives, costs, and a file of each rollup before its first month. The files of an application are replaced as a whole.

type NamesBindings = { DB: D1Database; RAW_EVENTS: Pick<R2Bucket, 'put' | 'list'> };

const ROWS_AT_ONCE = 5_000;
/** The files of a night. A run that follows within the day leaves those that are there. */
const WRITTEN_EVERY_MS = 20 * HOUR_MS;
/** An invocation has 1,000 statements. */
const MAX_APPLICATIONS = 200;

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const;
const OPTIONAL_INT = { type: 'INT64', repetition_type: 'OPTIONAL' } as const;
const TIMESTAMP = { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' } as const;

type NameColumn = {
  element: Omit<SchemaElement, 'name'>;
  read: (value: unknown) => string | number | bigint | null;
};
const text: NameColumn = { element: TEXT, read: String };
const int: NameColumn = {
  element: OPTIONAL_INT,
  read: (value) => (value === null ? null : BigInt(String(value))),
};
const moment: NameColumn = { ...int, element: { ...TIMESTAMP, repetition_type: 'OPTIONAL' } };

const CREATIVE_COLUMNS: Readonly<Record<string, NameColumn>> = {
  ...{ creative_id: text, creative: text, adset_id: text, adset: text, campaign_id: text, campaign: text },
  ...{ created_at: moment, archived_at: moment },
};
const COST_COLUMNS: Readonly<Record<string, NameColumn>> = {
  day: {
    element: { type: 'INT32', converted_type: 'DATE', repetition_type: 'REQUIRED' },
    read: (day) => dayNumber(String(day)),
  },
  ...{ campaign: text, adset: text, creative: text },
  ...ofDimensions(COST_DIMENSIONS, () => text),
  currency: text,
  amount: {
    ...int,
    element: {
      type: 'INT64',
      converted_type: 'DECIMAL',
      precision: 18,
      scale: 9,
      repetition_type: 'REQUIRED',
    },
  },
  ...{ impressions: int, clicks: int },
};

/** Writes the files of applications that have none of the last 20 hours, as many as one run can. Can be repeated. */
export async function writeNames(stores: NamesBindings, now: number): Promise<void> {
  const recent = new Set<string>();
  for await (const { key, uploaded } of listObjects(stores.RAW_EVENTS, NAMES)) {
    if (key.endsWith('/costs.parquet') && uploaded.getTime() > now - WRITTEN_EVERY_MS) {
      recent.add(key.split('/')[1] ?? '');
    }
  }
  const all = await database(stores.DB).select({ id: applications.id }).from(applications);
  for (const { id } of all.filter(({ id }) => !recent.has(id)).slice(0, MAX_APPLICATIONS)) {
    await writeFile(
      stores,
      `${namesPrefix(id)}creatives.parquet`,
      CREATIVE_COLUMNS,
      creativesOf(stores.DB, id),
    );
    await writeEmptyMonths(stores.RAW_EVENTS, id);
    // Last, because it tells that everything is written.
    await writeFile(stores, `${namesPrefix(id)}costs.parquet`, COST_COLUMNS, costsOf(stores.DB, id));
  }
}

type NamePage = readonly Record<string, unknown>[];

async function* creativesOf(d1: D1Database, applicationId: string): AsyncGenerator<NamePage> {
  for (let after = ''; ; ) {
    const page = await database(d1)
      .select({
        creative_id: creatives.id,
        creative: creatives.name,
        adset_id: adsets.id,
        adset: adsets.name,
        campaign_id: campaigns.id,
        campaign: campaigns.name,
        created_at: creatives.createdAt,
        archived_at: creatives.archivedAt,
      })
      .from(creatives)
      .innerJoin(adsets, eq(adsets.id, creatives.adsetId))
      .innerJoin(campaigns, eq(campaigns.id, adsets.campaignId))
      .where(and(eq(creatives.applicationId, applicationId), gt(creatives.id, after)))
      .orderBy(asc(creatives.id))
      .limit(ROWS_AT_ONCE);
    yield page;
    const last = page.at(-1);
    if (!last || page.length < ROWS_AT_ONCE) return;
    after = last.creative_id;
  }
}

async function* costsOf(d1: D1Database, applicationId: string): AsyncGenerator<NamePage> {
  const names = columnNames(costs);
  const pages = pagesOf(costs, eq(costs.applicationId, applicationId), (query) =>
    retryTransient(() => toStatement(d1, query).raw()),
  );
  for await (const rows of pages) {
    yield rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
  }
}

async function writeFile(
  { RAW_EVENTS }: NamesBindings,
  key: string,
  columns: Readonly<Record<string, NameColumn>>,
  pages: AsyncIterable<NamePage>,
): Promise<void> {
  const { ByteWriter, compressors, ParquetWriter } = await loadParquet();
  const writer = new ByteWriter();
  const list = Object.entries(columns);
  const file = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: list.length },
      ...list.map(([name, { element }]) => ({ name, ...element })),
    ],
    codec: 'GZIP',
    compressors,
    createdBy: 'attribution',
  });
  for await (const page of pages) {
    if (page.length === 0) continue;
    const columnData = list.map(([name, { read }]) => ({
      name,
      data: page.map((row) => read(row[name] ?? null)),
    }));
    await file.write({ columnData, rowGroupSize: page.length });
  }
  await file.finish();
  await RAW_EVENTS.put(key, writer.getBytes());
}
