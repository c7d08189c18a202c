import { type DeviceEvent, isOfDevice, type LoggedEvent } from '#catalogue';
import type { Steps } from '#lib/steps';
import { dayFromNumber, dayNumber } from '#lib/time';
import { Journal } from '#rollup';
import { CountedDevice, type LoadedDevice, loadCounted, loadNew, Shared } from './counted-devices.ts';
import {
  type DeviceDay,
  type DeviceFactsRow,
  deviceDay,
  findCounted,
  hashOfDevice,
  pageOf,
  readFacts,
} from './device-pages.ts';
import { HashTable } from './hash-table.ts';
import { type Head, readDeviceWords } from './log-heads.ts';
import { DEVICE_WORDS } from './pack.ts';
import { PageWriter } from './page-writer.ts';
import { BrokenDevicesError } from './poison.ts';
import type { Store } from './store.ts';

/** The memory of a device besides its days, in bytes, measured in Node, whose pointers have 8. */
const DEVICE_BYTES = 850;
/** A day takes about four characters as text and 16 bytes as numbers. */
const BYTES_PER_CHARACTER = 4;
/** The share of the free memory for devices when they are read. The rest is for what events add to them. */
const LOADED_SHARE = 0.7;
/** The number of devices on the pages that are read at once: a few milliseconds. */
const DEVICES_PER_STEP = 2_000;

/**
 * The devices of a run. Those of many batches are read at once, each page only once, and written when they take too much memory, ideally only
 * once too.
 */
export class RunDevices {
  private readonly store: Store;
  private readonly applicationId: string;
  private readonly devices = new Map<string, CountedDevice>();
  /** Devices that are unknown or were erased. */
  private readonly missing = new Set<string>();
  /** The devices that were looked for on the pages, by acquisition day and hash. */
  private wanted = new HashTable();
  private readonly days = new Map<number, DeviceDay | null>();
  private loadedThrough = 0;
  private journal = new Journal();
  private shared = new Shared();
  private dayBytes = 0;

  constructor(store: Store, applicationId: string) {
    this.store = store;
    this.applicationId = applicationId;
  }

  /** The memory that they take, in bytes. */
  get weight(): number {
    return this.dayBytes + this.devices.size * DEVICE_BYTES + this.journal.weight;
  }

  /** Reads the devices of the first of these batches, if they are not loaded yet, and of as many further ones as fit into `room` bytes. */
  *load(heads: readonly Head[], room: number): Steps {
    const [next] = heads;
    if (!next || next.batch <= this.loadedThrough) return;
    const limit = (room * LOADED_SHARE) / DEVICE_BYTES;
    const pages = new Map<number, Set<number>>();
    for (const { batch } of heads) {
      if (this.wanted.size >= limit) break;
      this.addWanted(readDeviceWords(this.store, batch), pages);
      this.loadedThrough = batch;
      yield;
    }
    let read = 0;
    for (const [number, own] of pages) {
      const day = this.dayOf(number);
      if (!day) continue;
      const acquiredDay = dayFromNumber(number);
      for (const page of own) {
        read += this.loadPage(day, page, acquiredDay);
        if (read < DEVICES_PER_STEP) continue;
        read = 0;
        yield;
      }
    }
  }

  /**
   * The device of each event; undefined for one that was erased, and for events of a creative. Events sent with a different acquisition day do
   * not belong to the device. `load` must have been called for their batch.
   */
  ofAll(events: readonly (LoggedEvent | null)[]): (CountedDevice | undefined)[] {
    const unloaded = new Set<string>();
    const found = events.map((event) => {
      if (!event || !isOfDevice(event)) return undefined;
      const device = this.devices.get(event.device_id);
      if (!device && !this.missing.has(event.device_id)) unloaded.add(event.device_id);
      return device && ownDevice(device, event);
    });
    if (unloaded.size === 0) return found;
    this.loadUncounted(unloaded);
    return events.map((event, index) => {
      if (found[index] || !event || !isOfDevice(event)) return found[index];
      const device = this.devices.get(event.device_id);
      return device && ownDevice(device, event);
    });
  }

  /** Passes the pages of changed devices to `write`, in parts. Throws `BrokenDevicesError`. */
  *eachChange(write: (payload: string) => void): Steps {
    const writer = new PageWriter(this.store, write);
    const touched = [...this.devices.values()].filter(({ isTouched }) => isTouched);
    const days = Map.groupBy(touched, ({ acquiredDay }) => dayNumber(acquiredDay));
    for (const [day, devices] of days) yield* writer.addDay(day, devices);
    if (writer.broken.length > 0) throw new BrokenDevicesError(writer.broken, writer.cause);
    writer.end();
  }

  /** Unloads all devices. Those of later events are read again. */
  unload(): void {
    this.devices.clear();
    this.missing.clear();
    this.days.clear();
    this.wanted = new HashTable();
    this.loadedThrough = 0;
    this.journal = new Journal();
    this.shared = new Shared();
    this.dayBytes = 0;
  }

  private addWanted(words: Uint32Array, pages: Map<number, Set<number>>): void {
    for (let at = 0; at < words.length; at += DEVICE_WORDS) {
      const day = (words[at] ?? 0) | 0;
      const high = words[at + 1] ?? 0;
      if (!this.wanted.add(day, high, words[at + 2] ?? 0)) continue;
      const own = pages.get(day);
      const page = pageOf(high, this.dayOf(day)?.pages ?? 1);
      if (own) own.add(page);
      else pages.set(day, new Set([page]));
    }
  }

  private dayOf(number: number): DeviceDay | null {
    let day = this.days.get(number);
    if (day === undefined) {
      day = deviceDay(this.store, number);
      this.days.set(number, day);
    }
    return day;
  }

  /** Returns the number of devices on the page. */
  private loadPage(day: DeviceDay, page: number, acquiredDay: string): number {
    const rows = this.tryFacts(day, page);
    for (const facts of rows) {
      if (this.wanted.find(day.day, ...hashOfDevice(facts[0])) < 0) continue;
      this.add(loadCounted(this.applicationId, acquiredDay, facts, this.shared));
    }
    return rows.length;
  }

  /** Devices on a page that cannot be read look new until they are written: then that page is read again, and they are found broken. */
  private tryFacts(day: DeviceDay, page: number): DeviceFactsRow[] {
    try {
      return readFacts(this.store, day, page);
    } catch {
      return [];
    }
  }

  private loadUncounted(ids: Set<string>): void {
    const added = [...loadNew(this.store, this.applicationId, [...ids].sort(), this.shared)];
    // An event that was sent with a different acquisition day made `load` look for its device on another page.
    const lost = added.filter(
      ({ id, acquiredDay }) => this.wanted.find(dayNumber(acquiredDay), ...hashOfDevice(id)) < 0,
    );
    const { found } = findCounted(this.store, new Map(lost.map(({ id, acquiredDay }) => [id, acquiredDay])));
    for (const device of added) {
      const counted = found.get(device.id);
      this.add(
        counted ? loadCounted(this.applicationId, device.acquiredDay, counted.facts, this.shared) : device,
      );
      ids.delete(device.id);
    }
    for (const id of ids) this.missing.add(id);
  }

  private add(loaded: LoadedDevice): void {
    const { activeDays, activeAges, paidDays } = loaded;
    this.devices.set(loaded.id, new CountedDevice(loaded, this.journal));
    this.dayBytes += (activeDays.length + activeAges.length + paidDays.length) * BYTES_PER_CHARACTER;
  }
}

const ownDevice = (device: CountedDevice, event: DeviceEvent) =>
  device.acquiredDay === event.acquired_day ? device : undefined;
