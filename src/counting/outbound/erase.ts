import { eq, gt, sql } from 'drizzle-orm';
import type { OutboundRule } from '#catalogue';
import { outboundParts, progress } from '../schema.ts';
import type { Store } from '../store.ts';
import { insertPart } from './collect.ts';
import { withoutDevice } from './outbound-part.ts';

/** Deletes the parts of a run that was not committed. */
export const discardUncommitted = (store: Store): void => {
  store
    .delete(outboundParts)
    .where(gt(outboundParts.run, sql`(SELECT ${progress.run} FROM ${progress})`))
    .run();
};

/** Removes a device's events that wait to be sent, and has each destination forget those that it has. Call it in a transaction, between runs. */
export function eraseOutbound(store: Store, deviceId: string, rules: readonly OutboundRule[]): void {
  const rows = store
    .select({ part: outboundParts.part, payload: outboundParts.payload })
    .from(outboundParts)
    .where(sql`instr(${outboundParts.payload}, ${deviceId}) > 0`)
    .all();
  for (const { part, payload } of rows) {
    const left = withoutDevice(JSON.parse(payload), deviceId);
    if (left === null) continue;
    store
      .update(outboundParts)
      // Under another id, because the destination may have the part as it was.
      .set({ payload: JSON.stringify(left), id: crypto.randomUUID() })
      .where(eq(outboundParts.part, part))
      .run();
  }
  const run = store.select({ run: progress.run }).from(progress).get()?.run ?? 0;
  for (const { id: destinationId } of rules) {
    insertPart(store, { run, destinationId, part: { erased: deviceId } });
  }
}
