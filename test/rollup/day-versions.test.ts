import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LoggedEvent, ownValues, SegmentBook, UNKNOWN_SEGMENT } from '#catalogue';
import { DayVersions } from '../../src/rollup/device/day-versions.ts';
import type { DeviceState } from '../../src/rollup/device/device-state.ts';
import { sumColumnsOf } from '../../src/rollup/tables.ts';
import { cellsOf } from '../helpers/cube.ts';
import { deviceKey, tally } from '../helpers/tally.ts';

// Under which app version a device counts on a day: the one of the day's latest event, and as a payer of the day's latest purchase.

const DAY_MS = 86_400_000;
const ACQUIRED = '2026-03-01';
const OWN_VERSION = '1.0';
const OWN_SDK = '7';

const acquired = (id: string): DeviceState => ({
  ...{ applicationId: 'app_1', acquiredDay: ACQUIRED, id, test: false },
  segment: {
    ...UNKNOWN_SEGMENT,
    country: 'de',
    os: 'android',
    app_version: OWN_VERSION,
    sdk_version: OWN_SDK,
  },
  ...{ activeDays: '', activeAges: '', paidDays: '', launches: '', activeVersions: '', paidVersions: '' },
  ...{ steps: null, revenue: null },
});

type Told = {
  device: string;
  day: number;
  second: number;
  version: string | null;
  sdk?: string;
  pays: boolean;
};

let made = 0;
function eventOf({ device, day, second, version, sdk, pays }: Told): LoggedEvent {
  const at = Date.parse(`${ACQUIRED}T00:00:00Z`) + day * DAY_MS + second * 1_000;
  const event = {
    ...{ id: `evt_${String(made++).padStart(32, '0')}`, application_id: 'app_1', device_id: device },
    ...{ creative_id: 'crt_1', acquired_day: ACQUIRED, occurred_at: at, received_at: at },
    day: new Date(at).toISOString().slice(0, 10),
    device: { ...(version === null ? {} : { app_version: version }), ...(sdk ? { sdk_version: sdk } : {}) },
    ...(pays
      ? { type: 'custom.purchase', item_id: 'gold', value_nanos: 5, currency: 'usd', status: 'completed' }
      : { type: 'custom', event_name: 'level_1' }),
  };
  return event as unknown as LoggedEvent;
}

type Figure = 'active_devices' | 'payers';
/** `day version`: devices, without those of 0. */
type Cells = Record<Figure, Record<string, number>>;

const COLUMNS = sumColumnsOf('rollup_daily');
const FIGURES: readonly Figure[] = ['active_devices', 'payers'];

/** Counts batches of events one after the other, each as a run of its own. */
function count(batches: readonly (readonly Told[])[], stored: readonly DeviceState[] = []): Cells {
  const devices = new Map(['a', 'b'].map((id) => [deviceKey(acquired(id)), acquired(id)]));
  for (const state of stored) devices.set(deviceKey(state), state);
  const sums: Record<Figure, Map<string, number>> = { active_devices: new Map(), payers: new Map() };
  const versions = new Map<number, string>();
  for (const batch of batches) {
    const segments = new SegmentBook();
    const counted = tally(batch.map(eventOf), {
      devices,
      revokedTokens: new Map(),
      segments,
    });
    for (const state of counted.devices) devices.set(deviceKey(state), state);
    for (const { id, app_version, sdk_version } of segments.added)
      versions.set(id, shownVersions(app_version, sdk_version));
    for (const { key, segment, sums: cell } of cellsOf(counted.daily)) {
      const name = `${key[0]} ${versions.get(segment)}`;
      for (const figure of FIGURES) {
        const sum = cell[COLUMNS.indexOf(figure)] ?? 0;
        sums[figure].set(name, (sums[figure].get(name) ?? 0) + sum);
      }
    }
  }
  const shown = (own: Map<string, number>) => Object.fromEntries([...own].filter(([, sum]) => sum !== 0));
  return { active_devices: shown(sums.active_devices), payers: shown(sums.payers) };
}

/** The same by sorting: the last of each device and day decides. */
function expected(events: readonly Told[]): Cells {
  const expectedCells = (own: readonly Told[]) => {
    const cells: Record<string, number> = {};
    for (const ofDay of Map.groupBy(own, ({ device, day }) => `${device}/${day}`).values()) {
      const named = ofDay.map(({ version, sdk, ...event }) => ({
        ...event,
        version: version ?? OWN_VERSION,
        sdk: sdk ?? OWN_SDK,
      }));
      const latest = Math.max(...named.map(({ second }) => second));
      const last = named
        .filter(({ second }) => second === latest)
        .sort(byVersion)
        .at(-1);
      const day = new Date(Date.parse(ACQUIRED) + (last?.day ?? 0) * DAY_MS).toISOString().slice(0, 10);
      const name = `${day} ${shownVersions(last?.version ?? '', last?.sdk ?? '')}`;
      cells[name] = (cells[name] ?? 0) + 1;
    }
    return cells;
  };
  return { active_devices: expectedCells(events), payers: expectedCells(events.filter(({ pays }) => pays)) };
}
/** The SDK's own version is not shown. */
const shownVersions = (version: string, sdk: string) => (sdk === OWN_SDK ? version : `${version} (${sdk})`);

type Versions = { version: string; sdk: string };
const byVersion = (left: Versions, right: Versions) =>
  `${left.version}\0${left.sdk}` < `${right.version}\0${right.sdk}` ? -1 : 1;

const told = (days: number) =>
  fc.record<Told>({
    device: fc.constantFrom('a', 'b'),
    day: fc.integer({ min: -1, max: days - 2 }),
    second: fc.oneof(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 86_399 })),
    version: fc.constantFrom(null, '1.0', '1.1', '2.0', 'a "b", [c]'),
    sdk: fc.constantFrom(OWN_SDK, '8', '8.1'),
    pays: fc.boolean(),
  });

/** The same events twice, the second time in another order, each divided into batches. */
const shuffled = fc
  .array(told(7), { minLength: 1, maxLength: 25 })
  .chain((events) =>
    fc.tuple(
      fc.constant(events),
      fc.shuffledSubarray(events, { minLength: events.length }),
      fc.array(fc.boolean(), { minLength: events.length, maxLength: events.length }),
    ),
  );

function divide(events: readonly Told[], ends: readonly boolean[]): Told[][] {
  const batches: Told[][] = [[]];
  for (const [index, event] of events.entries()) {
    batches.at(-1)?.push(event);
    if (ends[index]) batches.push([]);
  }
  return batches;
}

describe('the version of a device’s day', () => {
  it('is that of the latest event, in any order of arrival and any division into batches', () => {
    fc.assert(
      fc.property(shuffled, ([events, others, ends]) => {
        const cells = expected(events);
        expect(count([events])).toEqual(cells);
        expect(count(divide(others, ends))).toEqual(cells);
      }),
    );
  });

  it('is decided by the greater version within a second', () => {
    const at = (version: string): Told => ({ device: 'a', day: 0, second: 5, version, pays: true });
    for (const events of [
      [at('1.1'), at('2.0')],
      [at('2.0'), at('1.1')],
    ]) {
      expect(count([events])).toEqual({
        active_devices: { '2026-03-01 2.0': 1 },
        payers: { '2026-03-01 2.0': 1 },
      });
    }
  });

  it('stays once the device has been active on seven later days, and counts once whatever comes', () => {
    const on = (day: number, second: number, version: string): Told => ({
      ...{ device: 'a', day, second, version, pays: false },
    });
    const later = (days: number) => Array.from({ length: days }, (_, index) => on(index + 1, 0, '1.0'));
    const dayOf = (batches: Told[][]) =>
      Object.entries(count(batches).active_devices).filter(([name]) => name.startsWith(ACQUIRED));
    const [early, late] = [on(0, 10, '1.0'), on(0, 20, '2.0')];
    expect(dayOf([[early], later(6), [late]])).toEqual([['2026-03-01 2.0', 1]]);
    expect(dayOf([[early], later(7), [late]])).toEqual([['2026-03-01 1.0', 1]]);
    expect(dayOf([later(7), [early], [late]])).toEqual([['2026-03-01 1.0', 1]]);
    expect(dayOf([[early], later(7).toReversed(), [late]])).toEqual([['2026-03-01 1.0', 1]]);
    fc.assert(
      fc.property(fc.array(told(20), { maxLength: 60 }), (events) => {
        const total = (cells: Record<string, number>) =>
          Object.values(cells).reduce((sum, devices) => sum + devices, 0);
        const cells = count(events.map((event) => [event]));
        expect(count([events])).toEqual(cells);
        const days = (own: Told[]) => new Set(own.map(({ device, day }) => `${device}/${day}`)).size;
        expect(total(cells.active_devices)).toBe(days(events));
        expect(total(cells.payers)).toBe(days(events.filter(({ pays }) => pays)));
        expect(Object.values({ ...cells.active_devices, ...cells.payers }).every((n) => n > 0)).toBe(true);
      }),
    );
  });

  it('stays on days that a device was active on before versions were kept', () => {
    const before = { ...acquired('a'), activeDays: '0', activeAges: '0', paidDays: '0' };
    const event: Told = { device: 'a', day: 0, second: 50, version: '2.0', pays: true };
    expect(count([[event], [{ ...event, second: 60 }]], [before])).toEqual({
      active_devices: {},
      payers: {},
    });
    expect(count([[{ ...event, day: 1 }]], [before])).toEqual({
      active_devices: { '2026-03-02 2.0': 1 },
      payers: { '2026-03-02 2.0': 1 },
    });
  });

  it('is read whichever dimensions there were, in whatever order', () => {
    const stored = '[["unknown","sdk_version"],["x","7"],0,50,2,60,["x","8"],3,70,["y","7"],4,80]';
    const versions = new DayVersions(stored);
    expect(versions.add(4, { own: ownValues(['', '7']), second: 80 }, false)).toBe(null);
    expect(String(versions)).toBe(stored);
    expect(versions.add(5, { own: ownValues(['', '7']), second: 9 }, true)).toEqual({ former: null });
    expect(String(versions)).toBe(
      '[["app_version","sdk_version"],["","7"],0,50,2,60,["","8"],3,70,["","7"],4,80,5,9]',
    );
  });

  it.each([
    '{}',
    '[1]',
    '[[1],["1.0"],0,1]',
    '[["app_version"],0,1]',
    '[["app_version"],["1.0"],"0",1]',
    '[["app_version"],["1.0"],0]',
    '[["app_version"],["1.0"],0,["1.1"]]',
    '[["app_version"],[2],0,1]',
    '["app_version",["1.0"],0,1]',
    '[',
    'null',
  ])('is not read from %s', (text) => {
    const at = { own: ownValues(['1.0', '7']), second: 1 };
    expect(() => new DayVersions(text).add(0, at, true)).toThrow();
  });
});
