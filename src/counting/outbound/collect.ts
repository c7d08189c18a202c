import {
  type LoggedEvent,
  type OutboundRule,
  outboundTypeOf,
  passesFilter,
  type Segment,
  segmentWithoutDevice,
} from '#catalogue';
import type { ObjectStore } from '../store.ts';
import { deviceOf, insertPart, type OutboundItem, type OutboundPart, readOutboundDevices } from './parts.ts';
import { takes } from './rules.ts';

/** A part has at most this many events, which an object of a destination reads at once. */
const MAX_EVENTS = 100;
const MAX_CHARACTERS = 250_000;

type Open = { items: Omit<OutboundItem, 'device'>[]; characters: number };

/**
 * Collects the events of a run that destinations are to be sent, and writes them in parts. A part is valid once its run is committed: see
 * `discardUncommitted`. What is in memory is bounded, whatever a run counts.
 */
export class OutboundCollector {
  private readonly store: ObjectStore;
  private readonly rules: readonly OutboundRule[];
  private readonly open = new Map<string, Open>();

  constructor(store: ObjectStore, rules: readonly OutboundRule[]) {
    this.store = store;
    this.rules = rules.filter(({ isOff }) => !isOff);
  }

  /** Adds a counted event to the parts of the destinations that it matches. `run`: the number of the next commit. */
  add(event: LoggedEvent, device: { segment: Segment } | undefined, run: () => number): void {
    if (this.rules.length === 0) return;
    const type = outboundTypeOf(event);
    if (type === null) return;
    const facts = { segment: device?.segment ?? segmentWithoutDevice(event), creativeId: event.creative_id };
    for (const rule of this.rules) {
      if (!takes(rule, type) || !passesFilter(rule.filter, facts)) continue;
      const part = this.open.get(rule.id) ?? { items: [], characters: 0 };
      this.open.set(rule.id, part);
      part.items.push({ type, event });
      part.characters += JSON.stringify(event).length;
      if (part.items.length >= MAX_EVENTS || part.characters >= MAX_CHARACTERS)
        this.write(rule.id, part, run());
    }
  }

  /** Writes what is left. Call it before the run commits. */
  writeAll(run: number): void {
    for (const [id, part] of this.open) this.write(id, part, run);
  }

  private write(destinationId: string, { items }: Open, run: number): void {
    this.open.delete(destinationId);
    const ids = new Set(items.map(deviceOf).filter((id) => id !== ''));
    const devices = readOutboundDevices(this.store, ids);
    const part: OutboundPart = {
      events: items.map(({ type, event }) => ({
        ...{ type, event },
        device: devices.get(deviceOf({ event })) ?? null,
      })),
    };
    insertPart(this.store, { run, destinationId, part });
  }
}
