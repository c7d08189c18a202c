import { asc, eq, isNotNull } from 'drizzle-orm';
import type { OutboundRule } from '#catalogue';
import { database, destinations } from '#db';
import { withTimeout } from '#lib/timeout';
import { outboundRules } from '../schema.ts';
import type { ObjectStore } from '../store.ts';

const ONLY = 1;
const TIMEOUT_MS = 1_000;

/** Takes the place of destinations while they are unknown because D1 does not respond. What it is sent is given to them later: see `distribute`. */
export const UNKNOWN: OutboundRule = { id: '', events: [], filter: {}, isOff: false };

export const takes = ({ id, events }: OutboundRule, type: string): boolean =>
  events.includes(type) || id === UNKNOWN.id;

type RuleSource = { store: () => ObjectStore; db: () => D1Database; applicationId: () => string };

/** The destinations of a counter's application. They are read from D1 once, and again when they have changed. */
export class OutboundRules {
  private readonly around: RuleSource;
  /** Null if they are unknown; undefined if the store was not asked yet. */
  private known: readonly OutboundRule[] | null | undefined;

  constructor(around: RuleSource) {
    this.around = around;
  }

  /** Call it when another store was opened. */
  forget(): void {
    this.known = undefined;
  }

  /** The destinations, for a run, which does not wait for D1: see `UNKNOWN`. Does not throw. */
  get(): readonly OutboundRule[] | Promise<readonly OutboundRule[]> {
    const { cached } = this;
    if (cached) return cached;
    return withTimeout(this.refresh(), TIMEOUT_MS).catch(() => [UNKNOWN]);
  }

  /** Reads them from D1. */
  async refresh(): Promise<readonly OutboundRule[]> {
    const { store, db, applicationId } = this.around;
    const { id, events, filter, offSince } = destinations;
    const rows = await database(db())
      .select({ id, events, filter, isOff: isNotNull(offSince).mapWith(Boolean) })
      .from(destinations)
      .where(eq(destinations.applicationId, applicationId()))
      .orderBy(asc(id));
    store()
      .insert(outboundRules)
      .values({ id: ONLY, rules: rows })
      .onConflictDoUpdate({ target: outboundRules.id, set: { rules: rows } })
      .run();
    this.known = rows;
    return rows;
  }

  /** Those that are known without asking; null if they are unknown. */
  get cached(): readonly OutboundRule[] | null {
    if (this.known === undefined)
      this.known = this.around.store().select().from(outboundRules).get()?.rules ?? null;
    return this.known;
  }
}
