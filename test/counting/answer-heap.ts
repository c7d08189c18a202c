import { scheduler } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import { pageId, pageOf } from '../../src/counting/devices/device-pages.ts';
import {
  type DeviceFactsRow,
  emptyRow,
  type HistoryRow,
  writeHistories,
  writeRows,
} from '../../src/counting/devices/device-row.ts';
import { writeTotals } from '../../src/counting/devices/totals.ts';
import { hashOfDevice } from '../../src/counting/pack.ts';
import { countFunnel, sumFunnel } from '../../src/counting/questions/funnel.ts';
import { countPurchases } from '../../src/counting/questions/purchases.ts';
import { clientTotals } from '../../src/counting/questions/queries.ts';
import { openStore } from '../../src/counting/store.ts';
import { deflateText } from '../../src/lib/encoding/deflate.ts';
import { addDays, dayNumber } from '../../src/lib/time.ts';
import { StepHistory } from '../../src/rollup/device/step-history.ts';
import { NANOS_PER_HIGH } from '../../src/rollup/index.ts';
import { memoryStorage } from '../helpers/memory-storage.ts';

// A counter's answer to one question about devices that have nothing in common, in a V8 whose heap is limited from outside, on SQLite in memory
// outside of that heap. Prints one line of JSON: what the answer adds up to, and its number of rows.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { devices: { type: 'string', default: '0' } },
});
const DEVICES = Number(values.devices);
const [question] = positionals;

const FIRST = '2026-01-01';
const DAYS = 100;
const LAST = addDays(FIRST, DAYS - 1);
const STEPS = ['install', 'ad', 'purchase'];
const cohort = { from: FIRST, to: LAST };
// What a Worker has without importing it.
Object.assign(globalThis, { scheduler });

const storage = memoryStorage();
const store = openStore(storage);

/** Each device has a creative, a version, gaps and times of its own. */
function deviceOf(index: number): { facts: DeviceFactsRow; history: HistoryRow } {
  const counted = { events: 1, currency: 'usd', countedHigh: 0 };
  // The first one's gap is the smallest, although both of its parts differ.
  const client = index === 0 ? [1, 1_000_000] : [0, 5_000_000 + index];
  const [clientHigh = 0, clientLow = 0] = client;
  const countedLow = index === 0 ? NANOS_PER_HIGH - 1_000_000 : 1_000_000;
  const totals = writeTotals({ ...counted, countedLow, clientHigh, clientLow });
  const steps = StepHistory.read(null);
  for (const [at, name] of STEPS.entries()) steps.add(name, 1_767_225_600 + at * (index + 2));
  const name = index.toString(16).padStart(32, '0');
  const segment = { ...UNKNOWN_SEGMENT, country: 'de', os: 'android', app_version: `1.0.${index}` };
  const row = emptyRow(`dev_${name}`, `crt_${name}`, segment);
  return {
    facts: row.with(2, '0').with(3, '0').with(4, '0').with(5, totals).with(6, totals) as DeviceFactsRow,
    history: [steps.toStored(), { usd: { 0: { purchase: 1_000_000_000 + index * 1_000_000 } } }],
  };
}

function fill(): void {
  const perDay = Math.ceil(DEVICES / DAYS);
  const pages = 32;
  for (let age = 0; age < DAYS; age++) {
    const day = dayNumber(addDays(FIRST, age));
    const length = Math.max(0, Math.min(perDay, DEVICES - age * perDay));
    const devices = Array.from({ length }, (_, index) => deviceOf(age * perDay + index));
    storage.sql.exec('INSERT INTO device_days (day, pages) VALUES (?, ?)', day, pages);
    const byPage = Map.groupBy(devices, ({ facts: [id] }) => pageOf(hashOfDevice(id)[0], pages));
    for (const [page, own] of byPage) {
      storage.sql.exec(
        'INSERT INTO device_pages (id, facts, histories) VALUES (?, ?, ?)',
        pageId(day, page),
        deflateText(writeRows(own.map(({ facts }) => facts))),
        deflateText(writeHistories(own.map(({ history }) => history))),
      );
    }
  }
}

async function answer(): Promise<object> {
  if (question === 'client-totals') {
    const { totals, gaps } = await clientTotals(store, cohort, {});
    const [first] = gaps;
    return {
      devices: totals[0]?.devicesWithGap,
      rows: gaps.length,
      largest: first?.client,
      smallest: gaps.at(-1)?.client,
    };
  }
  if (question === 'funnel') {
    const parts = await countFunnel(store, {
      ...{ cohort, filter: {}, groupBy: 'app_version', steps: STEPS, windowSeconds: null },
      ...{ maxDurations: 1_000_000, maxGroups: 33_333 },
    });
    // As a report does: of each group, then of all.
    const groups = parts.map((part) => sumFunnel(STEPS, [part]));
    const { steps } = sumFunnel(STEPS, parts);
    return { devices: steps.at(-1)?.devices, rows: groups.length };
  }
  const groups = await countPurchases(store, {
    ...{ cohort, filter: {}, groupBy: 'creative', cohortBy: 'day', today: LAST, isPast: false },
    ...{ rates: { usd: 1 }, net: null, maxCells: 20_000, maxGroups: 500 },
  });
  return { devices: groups.reduce((sum, { size }) => sum + size, 0), rows: groups.length };
}

fill();
console.log(JSON.stringify(await answer()));
