import { isOfDevice, type LoggedEvent } from '#catalogue';
import { TupleIndex } from '#lib/collections/tuple-index';
import type { Steps } from '#lib/steps';
import { dayFromNumber, dayNumber } from '#lib/time';
import { Journal } from '#rollup';
import {
  CountedDevice,
  type LoadedDevice,
  loadCounted,
  loadNew,
  SharedValues,
} from '../devices/counted-devices.ts';
import { type DeviceDay, deviceDay, pageOf, readFacts } from '../devices/device-pages.ts';
import type { DeviceFactsRow } from '../devices/device-row.ts';
import { PageWriter } from '../devices/page-writer.ts';
import { type Head, readDeviceWords } from '../log.ts';
import { DEVICE_WORDS, hashOfDevice } from '../pack.ts';
import type { ObjectStore } from '../store.ts';
import { BrokenDevicesError } from './poison.ts';

/** The memory that a device takes besides its days, in bytes, measured in Node, whose pointers have 8. One that pays takes 250 more, a new one half. */
const DEVICE_BYTES = 550;
/** Its days and their versions are text, once as stored and once with what was added. */
const BYTES_PER_CHARACTER = 2;
/** The share of the free memory for devices when they are read. The rest is for what events add to them. */
const LOADED_SHARE = 0.85;
/** The number of pages whose devices are weighed before the first are read. */
const WEIGHED_PAGES = 8;
/** The number of devices on the pages that are read at once: a few milliseconds. */
const DEVICES_PER_STEP = 2_000;
/** The number of events whose devices are numbered at once, which takes less than a millisecond. */
const NUMBERED_PER_STEP = 5_000;

/**
 * The devices of a run. Those of many batches are read at once, each page only once, and written when they take too much memory, ideally only
 * once too.
 */
export class RunDevices {
  private readonly store: ObjectStore;
  private readonly applicationId: string;
  /** Numbers the devices of the log by acquisition day and hash: see `DEVICE_WORDS`. Equal ones were looked for on the pages. */
  private index = new TupleIndex(DEVICE_WORDS);
  /** The number of each event's device, by batch. */
  private readonly numbers = new Map<number, Int32Array>();
  /** By number. Undefined as long as none was found on the pages; null if there is none, or it was acquired on another day. */
  private devices: (CountedDevice | null | undefined)[] = [];
  private found = 0;
  private readonly days = new Map<number, DeviceDay | null>();
  private journal = new Journal();
  private shared = new SharedValues();
  private dayBytes = 0;
  /** The memory that a device takes with its days, in bytes: of those that were read last, or else of some of those to be read. */
  private bytesPerDevice: number | null = null;
  private readonly tuple = new Int32Array(DEVICE_WORDS);

  constructor(store: ObjectStore, applicationId: string) {
    this.store = store;
    this.applicationId = applicationId;
  }

  /** The memory that they take, in bytes. */
  get weight(): number {
    return this.dayBytes + this.found * DEVICE_BYTES + this.journal.weight;
  }

  /** Whether `ofAll` can return the devices of a batch. */
  hasLoaded(batch: number): boolean {
    return this.numbers.has(batch);
  }

  /** Reads the devices of the first of these batches, and of as many further ones as fit into `room` bytes. None may be loaded. */
  *load(heads: readonly Head[], room: number): Steps {
    const pages = new Map<number, Set<number>>();
    let limit = Number.POSITIVE_INFINITY;
    let numbered = 0;
    for (const { batch, eventCount } of heads) {
      if (this.index.size >= limit) break;
      this.numbers.set(batch, this.numberAll(readDeviceWords(this.store, batch), pages));
      this.bytesPerDevice ??= this.weighSome(pages);
      limit = (room * LOADED_SHARE) / this.bytesPerDevice;
      numbered += eventCount;
      if (numbered < NUMBERED_PER_STEP) continue;
      numbered = 0;
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
    if (this.found > 0) this.bytesPerDevice = DEVICE_BYTES + this.dayBytes / this.found;
  }

  /** The memory per device on some of the pages, which are those of as many days as possible. */
  private weighSome(pages: ReadonlyMap<number, ReadonlySet<number>>): number {
    const days = [...pages];
    const every = Math.ceil(days.length / WEIGHED_PAGES);
    const shared = new SharedValues();
    let [devices, bytes] = [0, 0];
    for (const [number, [page]] of days.filter((_, place) => place % every === 0)) {
      const day = this.dayOf(number);
      if (!day || page === undefined) continue;
      for (const facts of this.tryFacts(day, page)) {
        devices++;
        bytes += dayBytesOf(loadCounted(this.applicationId, '', facts, shared));
      }
    }
    return DEVICE_BYTES + (devices === 0 ? 0 : bytes / devices);
  }

  /**
   * The devices of some events of a batch, the first of which is at `start` in it. Undefined for one that was erased, and for events of a creative.
   * Events sent with a different acquisition day do not belong to the device. The batch must be loaded.
   */
  ofAll(
    batch: number,
    start: number,
    events: readonly (LoggedEvent | null)[],
  ): (CountedDevice | undefined)[] {
    const numbers = this.numbers.get(batch);
    const unloaded = new Map<number, string>();
    const found = events.map((event, place) => {
      if (!event || !isOfDevice(event)) return undefined;
      const number = numbers?.[start + place] ?? -1;
      const device = this.devices[number];
      if (device === undefined) unloaded.set(number, event.device_id);
      return device?.id === event.device_id ? device : undefined;
    });
    if (unloaded.size === 0) return found;
    this.loadUncounted(unloaded);
    return this.ofAll(batch, start, events);
  }

  /** The device that a transaction names, of whichever event. Undefined for one that was erased. Call it between `load` and `unload`. */
  named(id: string, acquiredDay: string): CountedDevice | undefined {
    const [high, low] = hashOfDevice(id);
    this.tuple.set([dayNumber(acquiredDay), high, low]);
    const number = this.index.numberOf(this.tuple);
    if (this.devices[number] === undefined) {
      const facts = this.findFacts(id, acquiredDay);
      if (facts) this.add(number, loadCounted(this.applicationId, acquiredDay, facts, this.shared));
      else this.loadUncounted(new Map([[number, id]]));
    }
    const device = this.devices[number];
    return device?.id === id ? device : undefined;
  }

  private findFacts(id: string, acquiredDay: string): DeviceFactsRow | undefined {
    const day = this.dayOf(dayNumber(acquiredDay));
    if (!day) return undefined;
    return this.tryFacts(day, pageOf(hashOfDevice(id)[0], day.pages)).find(([own]) => own === id);
  }

  /** Passes the pages of changed devices to `write`, in parts. Throws `BrokenDevicesError`. */
  *eachChange(write: (payload: string) => void): Steps {
    const writer = new PageWriter(this.store, write);
    const touched = this.devices.flatMap((device) => (device?.isTouched ? [device] : []));
    const days = Map.groupBy(touched, ({ acquiredDay }) => dayNumber(acquiredDay));
    for (const [day, devices] of days) yield* writer.addDay(day, devices);
    if (writer.broken.length > 0) throw new BrokenDevicesError(writer.broken, writer.cause);
    writer.end();
  }

  /** Unloads all devices. Those of later events are read again. */
  unload(): void {
    this.index = new TupleIndex(DEVICE_WORDS);
    this.numbers.clear();
    this.devices = [];
    this.found = 0;
    this.days.clear();
    this.journal = new Journal();
    this.shared = new SharedValues();
    this.dayBytes = 0;
  }

  /** The number of each event's device. Adds the pages of the new ones. */
  private numberAll(words: Uint32Array, pages: Map<number, Set<number>>): Int32Array {
    const { index, tuple } = this;
    const numbers = new Int32Array(words.length / DEVICE_WORDS);
    for (let place = 0; place < numbers.length; place++) {
      const at = place * DEVICE_WORDS;
      for (let word = 0; word < DEVICE_WORDS; word++) tuple[word] = words[at + word] ?? 0;
      const { size } = index;
      const number = index.numberOf(tuple);
      numbers[place] = number;
      if (number === size) this.addPage(index.at(number, 0), words[at + 1] ?? 0, pages);
    }
    return numbers;
  }

  private addPage(day: number, hash: number, pages: Map<number, Set<number>>): void {
    const page = pageOf(hash, this.dayOf(day)?.pages ?? 1);
    const own = pages.get(day);
    if (own) own.add(page);
    else pages.set(day, new Set([page]));
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
      const [high, low] = hashOfDevice(facts[0]);
      this.tuple.set([day.day, high, low]);
      const number = this.index.find(this.tuple);
      if (number >= 0) this.add(number, loadCounted(this.applicationId, acquiredDay, facts, this.shared));
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

  /** Loads devices that are on no page. `ids`: by number. */
  private loadUncounted(ids: ReadonlyMap<number, string>): void {
    const wanted = [...new Set(ids.values())].sort();
    const loaded = new Map([...loadNew(this.store, this.applicationId, wanted, this.shared)].map(byId));
    for (const [number, id] of ids) {
      const device = loaded.get(id);
      if (device && dayNumber(device.acquiredDay) === this.index.at(number, 0)) this.add(number, device);
      else this.devices[number] = null;
    }
  }

  private add(number: number, loaded: LoadedDevice): void {
    this.devices[number] = new CountedDevice(loaded, this.journal);
    this.found++;
    this.dayBytes += dayBytesOf(loaded);
  }
}

function dayBytesOf(loaded: LoadedDevice): number {
  const { activeDays, activeAges, paidDays, launches, activeVersions, paidVersions } = loaded;
  const texts = [activeDays, activeAges, paidDays, launches, activeVersions, paidVersions];
  return texts.reduce((sum, text) => sum + text.length * BYTES_PER_CHARACTER, 0);
}

const byId = (device: LoadedDevice) => [device.id, device] as const;
