/** R2 lists and deletes so many objects at once. */
const MAX_AT_ONCE = 1_000;

/** The names of all files of an application begin with this. */
export const filePrefix = (applicationId: string) => `events/${applicationId}/`;

/** Deletes an application's raw event files until a time (epoch milliseconds); answers whether none is left. Repeatable. */
export async function deleteFiles(
  bucket: Pick<R2Bucket, 'list' | 'delete'>,
  applicationId: string,
  deadline: number,
): Promise<boolean> {
  const prefix = filePrefix(applicationId);
  while (Date.now() < deadline) {
    const { objects } = await bucket.list({ prefix, limit: MAX_AT_ONCE });
    if (objects.length === 0) return true;
    await bucket.delete(objects.map(({ key }) => key));
  }
  return false;
}
