import { DEVICE_DIMENSIONS, ofDimensions } from '#catalogue';
import { readRuns } from '#lib/collections/day-set';
import { dayNumber } from '#lib/time';
import type {
  ClientTotals,
  Cohort,
  DeviceFilter,
  PayerGrouping,
  Payers,
  PayersQuery,
} from '../api-questions.ts';
import { isAnonymous } from '../devices/device-pages.ts';
import { columnOfDimension } from '../devices/device-row.ts';
import { type ComparedTotal, joinParts, MIXED, readComparedTotal } from '../devices/totals.ts';
import type { ObjectStore } from '../store.ts';
import { type CohortFacts, factsOf } from './cohort-devices.ts';

const MAX_GAPS = 200;
/** While devices are read, the smaller gaps are forgotten whenever there are this many. */
const GAPS_HELD = 10 * MAX_GAPS;

type Gap = ClientTotals['gaps'][number];
type ComparedSums = Omit<ComparedTotal, 'hasGap'> & { devices: number; gaps: number };

/** See `CounterApi.clientTotals`. Reads what is stored for every device in the cohort, but none of their events. */
export async function clientTotals(
  store: ObjectStore,
  cohort: Cohort,
  filter: DeviceFilter,
): Promise<ClientTotals> {
  const kinds = { ad: new TotalsOfKind('ad'), purchase: new TotalsOfKind('purchase') };
  for await (const portion of factsOf(store, cohort, filter)) {
    for (const { id, adTotals, purchaseTotals } of portion) {
      if (adTotals !== null) kinds.ad.add(id, adTotals);
      if (purchaseTotals !== null) kinds.purchase.add(id, purchaseTotals);
    }
  }
  return {
    totals: [...kinds.ad.totals(), ...kinds.purchase.totals()],
    gaps: largestGaps([...kinds.ad.gaps, ...kinds.purchase.gaps]),
  };
}

class TotalsOfKind {
  private readonly kind: 'ad' | 'purchase';
  private readonly byCurrency = new Map<string, ComparedSums>();
  /** The largest ones, and some more. */
  gaps: Gap[] = [];

  constructor(kind: 'ad' | 'purchase') {
    this.kind = kind;
  }

  /** Adds a device whose client reported a total; others are not compared. */
  add(deviceId: string, stored: string): void {
    const total = readComparedTotal(stored);
    if (!total) return;
    // An erased device is part of the sums, but not of a list of devices.
    const { currency, countedHigh, countedLow, clientHigh, clientLow } = total;
    if (total.hasGap && !isAnonymous(deviceId)) {
      const client = `${joinParts(clientHigh, clientLow)}`;
      const counted = `${joinParts(countedHigh, countedLow)}`;
      this.gaps.push({ deviceId, kind: this.kind, currency, client, counted });
    }
    if (this.gaps.length >= GAPS_HELD) this.gaps = largestGaps(this.gaps);
    const sums = this.byCurrency.get(currency);
    if (!sums) {
      const { hasGap, ...first } = total;
      this.byCurrency.set(currency, { ...first, devices: 1, gaps: hasGap ? 1 : 0 });
      return;
    }
    sums.devices++;
    if (total.hasGap) sums.gaps++;
    sums.countedHigh += countedHigh;
    sums.countedLow += countedLow;
    sums.clientHigh += clientHigh;
    sums.clientLow += clientLow;
  }

  totals(): ClientTotals['totals'] {
    const sums = [...this.byCurrency.values()].sort((left, right) =>
      left.currency < right.currency ? -1 : 1,
    );
    return sums.map((own) => {
      const isMixed = own.currency === MIXED;
      return {
        kind: this.kind,
        currency: isMixed ? null : own.currency,
        devices: own.devices,
        devicesWithGap: own.gaps,
        client: isMixed ? null : `${joinParts(own.clientHigh, own.clientLow)}`,
        counted: isMixed ? null : `${joinParts(own.countedHigh, own.countedLow)}`,
      };
    });
  }
}

const byName = (left: Gap, right: Gap) =>
  `${left.deviceId}/${left.kind}` < `${right.deviceId}/${right.kind}` ? -1 : 1;

/** The 200 largest gaps over several counters or kinds; equal ones are ordered by device. */
export function largestGaps(gaps: readonly Gap[]): Gap[] {
  const size = ({ client, counted }: Gap) => {
    const gap = BigInt(client) - BigInt(counted);
    return gap < 0n ? -gap : gap;
  };
  return gaps
    .map((gap) => ({ gap, size: size(gap) }))
    .sort((left, right) =>
      left.size === right.size ? byName(left.gap, right.gap) : left.size < right.size ? 1 : -1,
    )
    .slice(0, MAX_GAPS)
    .map(({ gap }) => gap);
}

/** The day of the acquisition, as days since it. */
const ACQUISITION = [[0, 0]] as const;

/** A device may have paid before its acquisition, so devices acquired after the periods count too. */
const ALL_DEVICES: Cohort = { from: '0000-01-01', to: '9999-12-31' };

/** See `CounterApi.payers`. Reads what is stored for every device, but none of their events. */
export async function payers(
  store: ObjectStore,
  { of = 'paid', periods, by, filter }: PayersQuery,
): Promise<Payers> {
  const spans = periods.map(({ from, to }) => [dayNumber(from), dayNumber(to)] as const);
  const counts = new Map<string, Payers[number]>();
  const columns = DEVICE_DIMENSIONS.map((name) => ({ name, at: columnOfDimension(name) }));
  const daysOf = ({ activeDays, paidDays }: CohortFacts) => (of === 'active' ? activeDays : paidDays);
  const shown = (name: PayerGrouping, value: string) => (by.includes(name) ? value : '');
  const count = (device: CohortFacts) => {
    const day = dayNumber(device.acquiredDay);
    const runs = of === 'acquired_payers' ? ACQUISITION : readRuns(daysOf(device));
    const creativeId = shown('creative', device.creativeId);
    const values = columns.map(({ name, at }) => shown(name, String(device.row[at] ?? '')));
    const group = [creativeId, ...values].join('\0');
    for (const [period, [from, to]] of spans.entries()) {
      if (!runs.some(([first, last]) => day + first <= to && day + last >= from)) continue;
      const key = `${period}/${group}`;
      const known = counts.get(key);
      if (known) known.devices++;
      else {
        const segment = ofDimensions(DEVICE_DIMENSIONS, (_, index) => values[index] ?? '');
        counts.set(key, { period, creativeId, segment, devices: 1 });
      }
    }
  };
  for await (const portion of factsOf(store, ALL_DEVICES, filter)) {
    for (const device of portion) if (daysOf(device) !== '') count(device);
  }
  return [...counts.values()];
}
