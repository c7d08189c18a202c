import { and, eq, isNull, lt } from 'drizzle-orm';
import type { RollupTable } from '#catalogue';
import { cubeMonths, database } from '#db';
import { monthKey, PUBLISHED, publicKey } from '../cube/month-file.ts';

// Other engines read `cubes/<application>/<rollup>/<month>.parquet`, which has each sum once at any time: a new version takes the place of the
// old one in a single write. Reports read versions instead, which never change while they read.

const MAX_PUBLISHED = 100;

type PublishingStores = { DB: D1Database; RAW_EVENTS: Pick<R2Bucket, 'get' | 'put'> };

/** Copies new versions of months before one to where other engines read them. Can be repeated. */
export async function publishMonths(
  { DB, RAW_EVENTS }: PublishingStores,
  now: number,
  before: string,
): Promise<void> {
  const db = database(DB);
  const due = await db
    .select()
    .from(cubeMonths)
    .where(
      and(
        eq(cubeMonths.grain, PUBLISHED),
        lt(cubeMonths.month, before),
        isNull(cubeMonths.publishedAt),
        isNull(cubeMonths.replacedAt),
      ),
    )
    .limit(MAX_PUBLISHED);
  for (const month of due) {
    const place = { ...month, rollup: month.rollup as RollupTable, grain: PUBLISHED } as const;
    const key = monthKey(place, month);
    const object = await RAW_EVENTS.get(key);
    if (!object) throw new Error(`The bucket lacks ${key}`);
    await RAW_EVENTS.put(publicKey(place, month), object.body);
    await db.update(cubeMonths).set({ publishedAt: now }).where(eq(cubeMonths.version, month.version));
  }
}
