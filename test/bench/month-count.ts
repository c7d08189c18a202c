import { dayNumber } from '../../src/lib/time.ts';
import { type BenchDevice, benchDay, CREATIVE_IDS, makeDevices, makeEvents } from './workload.ts';

// An independent count of the month that the bench sends: the same events, made once more and added up with nothing of the service.

const CHECKED = ['installs', 'dau', 'impressions', 'purchases', 'events', 'payers'] as const;
const MONEY = ['ad_revenue', 'purchase_revenue'] as const;
type Row = Record<string, unknown>;
type Report = (query: string) => Promise<Row[]>;

export class MonthCount {
  private readonly days: number;
  private readonly devices: BenchDevice[];
  private readonly indexOf: Map<string, number>;
  private readonly first = dayNumber(benchDay(0));
  /** By `<day> <creative> <metric>` and, in billionths, `<day> <currency> <metric>`. */
  private readonly counts = new Map<string, number>();
  /** A byte per day and device: 1 active, 2 paid. */
  private readonly states: Uint8Array;

  constructor(seed: number, count: number, days: number) {
    this.days = days;
    this.devices = makeDevices(seed, count);
    this.indexOf = new Map(this.devices.map(({ id }, index) => [id, index]));
    this.states = new Uint8Array(days * count);
    for (const device of this.devices) {
      const age = this.first - dayNumber(device.acquiredDay);
      if (age >= days) continue;
      this.mark(device.id, device.acquiredDay, 1);
      this.add(`${device.acquiredDay} ${device.creativeId} installs`, 1);
    }
  }

  /** The events that a load with this seed sends for a day. */
  addEvents(seed: number, age: number, events: number): void {
    const stream = makeEvents(seed, this.devices, 1, () => '', undefined, age);
    for (let made = 0; made < events; made++) {
      const event = stream.next().value;
      if (!('device_id' in event && event.device_id)) throw new Error(`a ${event.type} without a device`);
      const by = `${event.day} ${event.creative_id}`;
      this.mark(event.device_id, event.day, event.type === 'custom.purchase' ? 3 : 1);
      if (event.type === 'custom.ad') {
        this.add(`${by} impressions`, 1);
        this.add(`${event.day} ${event.currency} ad_revenue`, Number(event.value_nanos));
      } else if (event.type === 'custom.purchase') {
        this.add(`${by} purchases`, 1);
        this.add(`${event.day} ${event.currency} purchase_revenue`, Number(event.value_nanos));
      } else if (event.type === 'custom') this.add(`${by} events`, 1);
    }
  }

  /** Asks the reports and compares every figure; answers how many, or throws with the first that differs. */
  async compare(report: Report): Promise<number> {
    this.countStates();
    let compared = 0;
    const check = (what: string, row: Row | undefined, metric: string, scale = 1) => {
      const found = Math.round(Number(row?.[metric] ?? 0) * scale);
      const counted = this.counts.get(what) ?? 0;
      if (found !== counted) throw new Error(`${what}: reported ${found}, counted ${counted}`);
      compared++;
    };
    const rows = await report('performance?group_by=day,creative&limit=1000');
    const byPlace = new Map(rows.map((row) => [`${row.day} ${row.creative_id}`, row]));
    const days = Array.from({ length: this.days }, (_, age) => benchDay(age));
    for (const day of days) {
      for (const creative of CREATIVE_IDS) {
        const place = `${day} ${creative}`;
        for (const metric of CHECKED) check(`${place} ${metric}`, byPlace.get(place), metric);
      }
    }
    for (const currency of ['usd', 'eur', 'gbp', 'jpy', 'brl']) {
      const own = (await report(`performance?group_by=day,currency&currency=${currency}`)).filter(
        (row) => row.currency === currency,
      );
      for (const day of days) {
        const row = own.find((each) => each.day === day);
        for (const metric of MONEY) check(`${day} ${currency} ${metric}`, row, metric, 1e9);
      }
    }
    const cohorts = await report('retention?group_by=creative&days=1,7,14');
    for (const creative of CREATIVE_IDS) {
      const row = cohorts.find((each) => each.creative_id === creative) as
        | { days: Record<string, Row> }
        | undefined;
      for (const age of [1, 7, 14]) {
        for (const what of ['eligible', 'active']) check(`${creative} ${what} ${age}`, row?.days[age], what);
      }
    }
    return compared;
  }

  private mark(deviceId: string, day: string, state: number): void {
    const at =
      (this.first - dayNumber(day)) * this.devices.length + (this.indexOf.get(deviceId) ?? Number.NaN);
    this.states[at] = (this.states[at] ?? 0) | state;
  }

  private add(key: string, amount: number): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + amount);
  }

  private countStates(): void {
    for (const [index, device] of this.devices.entries()) {
      const stateOf = (age: number) => this.states[age * this.devices.length + index] ?? 0;
      for (let age = 0; age < this.days; age++) {
        const place = `${benchDay(age)} ${device.creativeId}`;
        if (stateOf(age)) this.add(`${place} dau`, 1);
        if (stateOf(age) > 1) this.add(`${place} payers`, 1);
      }
      const acquired = this.first - dayNumber(device.acquiredDay);
      if (acquired >= this.days) continue;
      for (const day of [1, 7, 14].filter((each) => each <= acquired)) {
        this.add(`${device.creativeId} eligible ${day}`, 1);
        if (stateOf(acquired - day)) this.add(`${device.creativeId} active ${day}`, 1);
      }
    }
  }
}
