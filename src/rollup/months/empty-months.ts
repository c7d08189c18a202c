import { ROLLUP_KEYS, type RollupTable } from '#catalogue';
import { loadParquet } from '#lib/encoding/parquet';
import { emptyKeyOf, PUBLISHED } from '../cube/month-file.ts';
import { beginFile, withAllSums } from '../cube/part-file.ts';

// An engine that reads `cubes/<application>/<rollup>/*.parquet` fails if there is no such file, as before the first month is there. So each rollup
// has one without rows, too.

/** Without segments, figures by hour are no rollup that other engines read. */
const TABLES = (Object.keys(ROLLUP_KEYS) as RollupTable[]).filter((table) => table !== 'rollup_hours');

/** Writes the file without rows of each rollup. Can be repeated. */
export async function writeEmptyMonths(bucket: Pick<R2Bucket, 'put'>, applicationId: string): Promise<void> {
  const { ByteWriter } = await loadParquet();
  for (const rollup of TABLES) {
    const writer = new ByteWriter();
    const sumTypes = withAllSums(rollup, new Map());
    const file = beginFile(rollup, PUBLISHED, { writer, sumTypes, hasRanges: false });
    await file.finish();
    await bucket.put(emptyKeyOf({ applicationId, rollup }), writer.getBytes());
  }
}
