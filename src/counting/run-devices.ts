import { type DeviceEvent, isOfDevice, type LoggedEvent } from '#catalogue';
import { chunksOf } from '#lib/chunks';
import type { Steps } from '#lib/steps';
import { Journal } from '#rollup';
import { type ChangedRow, CountedDevice, loadDevices, readHistories, Shared } from './counted-devices.ts';
import { BrokenDevicesError } from './poison.ts';
import { type Store, toParameters } from './store.ts';

/** The memory of a device besides its days, in bytes, measured in Node, whose pointers have 8. */
const DEVICE_BYTES = 850;
/** A day takes about four characters as text and 16 bytes as numbers. */
const BYTES_PER_CHARACTER = 4;
/** The number of devices, and of histories with 2 KB each, that are prepared at once: a few milliseconds. */
const DEVICES_PER_STEP = 500;

/** The devices of a run. They are read with their first event and written when they take too much memory, ideally only once. */
export class RunDevices {
  private readonly store: Store;
  private readonly applicationId: string;
  private readonly devices = new Map<string, CountedDevice>();
  private readonly missing = new Set<string>();
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

  /** Reads the devices of these events that are not loaded yet. */
  load(events: readonly (LoggedEvent | null)[]): void {
    const wanted = new Set<string>();
    for (const event of events) {
      if (!event || !isOfDevice(event)) continue;
      const { device_id: id } = event;
      if (!this.devices.has(id) && !this.missing.has(id)) wanted.add(id);
    }
    const ids = [...wanted].sort();
    for (const loaded of loadDevices(this.store, this.applicationId, ids, this.shared)) {
      this.devices.set(loaded.id, new CountedDevice(loaded, this.journal));
      const { activeDays, activeAges, paidDays } = loaded;
      this.dayBytes += (activeDays.length + activeAges.length + paidDays.length) * BYTES_PER_CHARACTER;
      wanted.delete(loaded.id);
    }
    for (const id of wanted) this.missing.add(id);
  }

  /** Returns undefined for a device that was erased. Events sent with a different acquisition day do not belong to the device. */
  of(event: DeviceEvent): CountedDevice | undefined {
    const device = this.devices.get(event.device_id);
    return device?.acquiredDay === event.acquired_day ? device : undefined;
  }

  /** Passes the rows of changed devices, as JSON arrays, to `write`. Throws `BrokenDevicesError`. */
  *eachChange(write: (kind: 'devices' | 'payers', payload: string) => void): Steps {
    const broken: string[] = [];
    let cause: unknown;
    let [others, payers]: [ChangedRow[], ChangedRow[]] = [[], []];
    // In the order of the table, which in workerd takes 40% of the time of any other order.
    const sorted = [...this.devices.values()].sort((left, right) => (left.id < right.id ? -1 : 1));
    for (const devices of chunksOf(sorted, DEVICES_PER_STEP)) {
      const histories = readHistories(
        this.store,
        devices.map(({ id }) => id),
      );
      for (const device of devices) {
        try {
          const history = histories.get(device.id);
          const row = history && device.toRow(history);
          if (row) (device.paidChanged ? payers : others).push(row);
        } catch (error) {
          broken.push(device.id);
          cause = error;
        }
      }
      for (const payload of toParameters(others)) write('devices', payload);
      others = [];
      if (payers.length >= DEVICES_PER_STEP) {
        for (const payload of toParameters(payers)) write('payers', payload);
        payers = [];
      }
      yield;
    }
    if (broken.length > 0) throw new BrokenDevicesError(broken, cause);
    for (const payload of toParameters(payers)) write('payers', payload);
  }

  /** Unloads all devices. Those of later events are read again. */
  unload(): void {
    this.devices.clear();
    this.missing.clear();
    this.journal = new Journal();
    this.shared = new Shared();
    this.dayBytes = 0;
  }
}
