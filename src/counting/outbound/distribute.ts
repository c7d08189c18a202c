import { and, asc, eq, lte, sql } from 'drizzle-orm';
import { type OutboundRule, passesFilter, segmentWithoutDevice } from '#catalogue';
import { outboundParts, progress } from '../schema.ts';
import type { Store } from '../store.ts';
import { insertPart } from './collect.ts';
import type { OutboundPart } from './outbound-part.ts';
import { takes, UNKNOWN } from './rules.ts';

/** Gives what was counted while the destinations were unknown to those that it matches. Call it in a transaction. */
export function distribute(store: Store, rules: readonly OutboundRule[]): void {
  const rows = store
    .select()
    .from(outboundParts)
    .where(
      and(
        eq(outboundParts.destinationId, UNKNOWN.id),
        lte(outboundParts.run, sql`(SELECT ${progress.run} FROM ${progress})`),
      ),
    )
    .orderBy(asc(outboundParts.part))
    .all();
  for (const { part, run, payload } of rows) {
    const own: OutboundPart = JSON.parse(payload);
    for (const rule of rules) {
      const events = ('events' in own ? own.events : []).filter(({ type, event, device }) => {
        const segment = device?.segment ?? segmentWithoutDevice(event);
        return takes(rule, type) && passesFilter(rule.filter, { segment, creativeId: event.creative_id });
      });
      if (events.length > 0 && !rule.isOff) {
        insertPart(store, { run, destinationId: rule.id, part: { events } });
      }
    }
    store.delete(outboundParts).where(eq(outboundParts.part, part)).run();
  }
}
