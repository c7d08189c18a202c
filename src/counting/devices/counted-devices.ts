import { inArray, sql } from 'drizzle-orm';
import { type DeviceEvent, kindOf, type Segment, UNKNOWN_SEGMENT, valuesOfSegment } from '#catalogue';
import { type DeviceFacts, type DeviceHistory, type Journal, RunningDevice } from '#rollup';
import type { DeviceDescription } from '../api.ts';
import { devices } from '../schema.ts';
import { type ObjectStore, perStore, toParameters } from '../store.ts';
import type { HistoryRow } from './device-row.ts';
import { type DeviceFactsRow, emptyRow, segmentOfRow, segmentTextOfRow } from './device-row.ts';
import { addToTotals, type DeviceTotals, readTotals, writeTotals } from './totals.ts';

/** A device without its history. */
export type LoadedDevice = DeviceFacts & {
  creativeId: string;
  /** Whether nothing was counted for it yet, so that it is on no page. */
  isNew: boolean;
  totals: { ad: string | null; purchase: string | null };
};

/** Values that many devices share, stored only once. */
export class SharedValues {
  private readonly texts = new Map<string, string>();
  private readonly segments = new Map<string, Segment>();

  text(text: string): string {
    const known = this.texts.get(text);
    if (known === undefined) this.texts.set(text, text);
    return known ?? text;
  }

  segmentOf(row: DeviceFactsRow): Segment {
    const text = segmentTextOfRow(row);
    const known = this.segments.get(text) ?? segmentOfRow(row);
    this.segments.set(text, known);
    return known;
  }
}

/** A device that is on a page. */
export function loadCounted(
  applicationId: string,
  acquiredDay: string,
  facts: DeviceFactsRow,
  shared: SharedValues,
): LoadedDevice {
  const [id, creativeId, activeDays, activeAges, paidDays, ad, purchase] = facts;
  const [, , , , , , , launches, activeVersions, paidVersions] = facts;
  return {
    ...{ applicationId, acquiredDay: shared.text(acquiredDay), id, test: false },
    ...{ creativeId: shared.text(creativeId), segment: shared.segmentOf(facts) },
    ...{ activeDays, activeAges, paidDays, launches, activeVersions, paidVersions },
    ...{ isNew: false, totals: { ad, purchase } },
  };
}

const { placeholder } = sql;
const statementsOf = perStore((store) => ({
  known: store
    .select({
      id: devices.id,
      acquiredDay: devices.acquiredDay,
      creativeId: devices.creativeId,
      description: devices.description,
    })
    .from(devices)
    .where(inArray(devices.id, sql`(SELECT value FROM json_each(${placeholder('ids')}))`))
    .prepare(),
}));

/** Iterates over the known devices with these ids, as if nothing had been counted for them. Erased ones are left out. */
export function* loadNew(
  store: ObjectStore,
  applicationId: string,
  ids: Iterable<string>,
  shared: SharedValues,
): Generator<LoadedDevice> {
  for (const parameter of toParameters(ids)) {
    for (const row of statementsOf(store).known.all({ ids: parameter })) {
      // Parsed here once, where SQLite would parse it again for every field.
      const described: Partial<DeviceDescription> = JSON.parse(row.description);
      const { segment, test } = described;
      const facts = emptyRow(row.id, row.creativeId, { ...UNKNOWN_SEGMENT, ...segment });
      const device = loadCounted(applicationId, row.acquiredDay, facts, shared);
      yield { ...device, isNew: true, test: test === true };
    }
  }
}

/** A device of a run, with its client's totals, which stay text until an event adds to them. */
export class CountedDevice extends RunningDevice {
  readonly isNew: boolean;
  private readonly creativeId: string;
  private ad: string | DeviceTotals | null;
  private purchase: string | DeviceTotals | null;
  private hasNewTotals = false;

  constructor(loaded: LoadedDevice, journal: Journal) {
    super(loaded, journal);
    this.isNew = loaded.isNew;
    this.creativeId = loaded.creativeId;
    this.ad = loaded.totals.ad;
    this.purchase = loaded.totals.purchase;
  }

  /** Whether an event added anything to it, even if that is known already. */
  override get isTouched(): boolean {
    return this.hasNewTotals || super.isTouched;
  }

  /** Compares a counted event with the running total that the client sent with it. Throws if the stored totals cannot be parsed. */
  addToTotals(event: DeviceEvent): void {
    const { clientTotal } = kindOf(event);
    if (!clientTotal) return;
    const before = this[clientTotal.of];
    const totals = typeof before === 'string' ? readTotals(before) : before;
    this[clientTotal.of] = addToTotals(totals, event, clientTotal);
    this.hasNewTotals = true;
  }

  /** The rows to store, given the `history` so far; null if nothing changed. Throws like `toState`. */
  toRows(history: DeviceHistory): { facts: DeviceFactsRow; history: HistoryRow } | null {
    const { state, isChanged } = this.toState(history);
    if (!isChanged && !this.hasNewTotals) return null;
    const { id, segment, activeDays, activeAges, paidDays, steps, revenue } = state;
    const { launches, activeVersions, paidVersions } = state;
    return {
      facts: [
        ...([id, this.creativeId, activeDays, activeAges, paidDays] as const),
        ...([toText(this.ad), toText(this.purchase), launches, activeVersions, paidVersions] as const),
        ...valuesOfSegment(segment),
      ],
      history: [steps, revenue],
    };
  }
}

const toText = (totals: string | DeviceTotals | null) =>
  totals === null || typeof totals === 'string' ? totals : writeTotals(totals);
