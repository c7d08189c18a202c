/** The largest number of objects that R2 lists or deletes at once. */
const MAX_AT_ONCE = 1_000;

type DeletableBucket = Pick<R2Bucket, 'list' | 'delete'>;

/** Deletes objects by their prefix until a deadline (epoch milliseconds). Returns whether none is left. Idempotent. */
export async function deletePrefix(
  bucket: DeletableBucket,
  prefix: string,
  deadline: number,
): Promise<boolean> {
  while (Date.now() < deadline) {
    const { objects } = await bucket.list({ prefix, limit: MAX_AT_ONCE });
    if (objects.length === 0) return true;
    await bucket.delete(objects.map(({ key }) => key));
  }
  return false;
}

/** The prefix of an application's files with names and costs. */
export const namesPrefix = (applicationId: string) => `${NAMES}${applicationId}/`;
export const NAMES = 'names/';

/** The prefix of snapshots: `snapshots/<day>/<application>/…`. What is recorded for a restore besides has a name in place of the day. */
export const SNAPSHOTS = 'snapshots/';

/** Deletes an application's data from all snapshots in the same way. */
export async function deleteCopies(
  bucket: DeletableBucket,
  applicationId: string,
  deadline: number,
): Promise<boolean> {
  const { delimitedPrefixes } = await bucket.list({ prefix: SNAPSHOTS, delimiter: '/' });
  for (const prefix of delimitedPrefixes) {
    if (!(await deletePrefix(bucket, `${prefix}${applicationId}/`, deadline))) return false;
  }
  return true;
}
