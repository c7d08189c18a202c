import { afterEach, describe, expect, it, vi } from 'vitest';
import { type LoggedEvent, MEASURES, type RollupTable, SegmentBook, UNKNOWN_SEGMENT } from '#catalogue';
import { DaySet } from '#lib/collections/day-set';
import type { DeviceState } from '../../src/rollup/device/device-state.ts';
import { MAX_FUNNEL_STEPS } from '../../src/rollup/device/step-format.ts';
import { StepHistory } from '../../src/rollup/device/step-history.ts';
import { firstTimes } from '../../src/rollup/device/step-walk.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { cellsOf } from '../helpers/cube.ts';
import { deviceKey, rowsOf, type TallyInput, tally } from '../helpers/tally.ts';

// What each event means for each metric, one row an event.

const device = (more: Partial<DeviceState> = {}): DeviceState => ({
  applicationId: 'app_1',
  acquiredDay: '2026-03-01',
  id: 'dev_1',
  test: false,
  segment: { ...UNKNOWN_SEGMENT, country: 'de', os: 'android', app_version: '1.0', network: 'meta' },
  activeDays: '0',
  activeAges: '0',
  paidDays: '',
  launches: '',
  activeVersions: '',
  paidVersions: '',
  steps: { times: { install: [1] } },
  revenue: null,
  ...more,
});

const known = (
  devices: DeviceState[] = [device()],
  sessions: string[] = [],
  revokedTokens: [string, number][] = [],
): TallyInput => ({
  devices: new Map(devices.map((state) => [deviceKey(state), state])),
  sessions,
  revokedTokens: new Map(revokedTokens),
  segments: new SegmentBook(),
});

let made = 0;
type Body<Type extends LoggedEvent['type']> = Partial<Extract<LoggedEvent, { type: Type }>>;
function event<Type extends LoggedEvent['type']>(
  type: Type,
  day: string,
  more: Body<Type> = {},
): LoggedEvent {
  const common = {
    id: `evt_${String(made++).padStart(32, '0')}`,
    application_id: 'app_1',
    device_id: 'dev_1',
    creative_id: null,
    acquired_day: '2026-03-01',
    day,
    occurred_at: Date.parse(`${day}T12:00:00Z`),
    received_at: Date.parse(`${day}T12:00:01Z`),
  };
  const payloads: { [Key in LoggedEvent['type']]: object } = {
    click: {},
    store: { store: 'apple', status: 'purchase', value_nanos: 1, currency: 'usd', tr_id: 't1' },
    impression: {},
    'mediation.ad': { ad_id: 'main', source: 'banner', value_nanos: 7, currency: 'eur' },
    install: {},
    retention: { age: 1 },
    'custom.purchase': {
      item_id: 'gold',
      item_name: 'Gold',
      value_nanos: 5,
      currency: 'usd',
      status: 'completed',
    },
    'custom.ad': { ad_id: 'main', source: 'banner', media_source: 'admob', value_nanos: 7, currency: 'eur' },
    custom: { event_name: 'level_1' },
  };
  return { ...common, ...payloads[type], ...more, type } as unknown as LoggedEvent;
}

const stepsOf = (state: DeviceState | undefined): Record<string, number> => firstTimes(state?.steps ?? null);

/** Rows as `key/parts: metric=sum`, without the sums of 0. */
function show<Table extends RollupTable>(additions: Additions<Table>): string[] {
  const metrics: readonly string[] = MEASURES[additions.table];
  return rowsOf(additions).map(({ key, sums }) => {
    const shown = metrics.map((name, index) => `${name}=${sums[index]}`).filter((sum) => !sum.endsWith('=0'));
    return `${key.slice(1).join('/')}: ${shown.join(' ')}`;
  });
}

describe('tally', () => {
  it('counts an install, which is the first activity of its device', () => {
    const fresh = device({ activeDays: '', activeAges: '', steps: null });
    const counted = tally([event('install', '2026-03-01')], known([fresh]));
    expect(show(counted.daily)).toEqual(['2026-03-01//: installs=1 active_devices=1']);
    expect(show(counted.activity)).toEqual(['2026-03-01//0: active_devices=1 last_active_devices=1']);
    expect(counted.devices).toEqual([
      {
        ...fresh,
        activeDays: '0',
        activeAges: '0',
        activeVersions: '[["app_version","sdk_version"],["1.0",""],0,43200]',
        steps: { times: { install: [Date.parse('2026-03-01T12:00:00Z') / 1_000] } },
      },
    ]);
  });

  it('counts an ad view by placement, format and network, and as revenue of its cohort on its day', () => {
    const counted = tally([event('custom.ad', '2026-03-01'), event('custom.ad', '2026-03-01')], known());
    expect(show(counted.daily)).toEqual(['2026-03-01//eur: impressions=2 ad_revenue=14']);
    expect(show(counted.ads)).toEqual(['2026-03-01/banner/admob/main//eur: impressions=2 ad_revenue=14']);
    expect(show(counted.revenue)).toEqual(['2026-03-01//2026-03-01/eur: ad_revenue=14']);
    expect(show(counted.activity)).toEqual([]);
  });

  it('counts a purchase, its payer once a day, and a failed one separately without revenue', () => {
    const counted = tally(
      [
        event('custom.purchase', '2026-03-02'),
        event('custom.purchase', '2026-03-02', { status: 'success', value_nanos: 6 }),
        event('custom.purchase', '2026-03-02', { status: 'failed', value_nanos: 100 }),
      ],
      known(),
    );
    expect(show(counted.daily)).toEqual([
      '2026-03-02//usd: purchases=2 failed_purchases=1 purchase_revenue=11',
      '2026-03-02//: active_devices=1 payers=1',
    ]);
    expect(show(counted.items)).toEqual([
      '2026-03-02/gold//usd: purchases=2 failed_purchases=1 purchase_revenue=11',
    ]);
    expect(show(counted.revenue)).toEqual(['2026-03-01//2026-03-02/usd: purchase_revenue=11']);
    expect(counted.devices[0]?.paidDays).toBe('1');
    expect(Object.keys(stepsOf(counted.devices[0]))).toEqual(['install', 'purchase']);
  });

  it('does not count a failed purchase as a funnel step', () => {
    const counted = tally([event('custom.purchase', '2026-03-01', { status: 'failed' })], known());
    expect(counted.devices).toEqual([]);
  });

  it('counts one session per session_id of a device, and one per event without an id', () => {
    const events = ['a', 'a', 'b', undefined, undefined].map((session_id) =>
      event('retention', '2026-03-02', session_id ? { session_id } : {}),
    );
    const counted = tally(events, known([device()], ['s:dev_1:b']));
    expect(show(counted.daily)).toEqual(['2026-03-02//: active_devices=1 sessions=3']);
    expect(counted.sessions).toEqual(['s:dev_1:a']);
  });

  it('counts a launch once, whichever of a session and a return without an id tells it first', () => {
    const started = (session_id?: string) => ({ session_start: true, ...(session_id ? { session_id } : {}) });
    const sessionsOf = (...payloads: object[]) => {
      const counted = tally(
        payloads.map((payload) => event('retention', '2026-03-02', payload)),
        known(),
      );
      return Number(/ sessions=(\d+)/.exec(show(counted.daily).join())?.[1] ?? 0);
    };
    expect(sessionsOf(started('a'), {})).toBe(1);
    expect(sessionsOf({}, started('a'))).toBe(1);
    expect(sessionsOf(started(), {})).toBe(1);
    expect(sessionsOf({}, { session_id: 'a', session_end: true }, started('a'))).toBe(1);
    expect(sessionsOf(started('a'), {}, started('b'), {}, started('c'))).toBe(3);
    expect(sessionsOf({}, {}, {}, started('a'), started('b'))).toBe(3);
    expect(sessionsOf(started('a'), started('a'), {})).toBe(1);
    // A return with the session's id is that session; one with another id is a launch of its own.
    expect(sessionsOf(started('a'), { session_id: 'a' })).toBe(1);
    expect(sessionsOf(started('a'), { session_id: 'b' })).toBe(2);
  });

  it('counts custom events by name, and ad requests instead by placement and format', () => {
    const requests = { count: 4, placement: 'main', source: 'banner' };
    const counted = tally(
      [
        event('custom', '2026-03-01'),
        event('custom', '2026-03-01', { event_name: 'ad_request', ad_requests: requests }),
      ],
      known(),
    );
    expect(show(counted.daily)).toEqual(['2026-03-01//: custom_events=1 ad_requests=4']);
    expect(show(counted.custom)).toEqual(['2026-03-01/level_1/: custom_events=1']);
    expect(show(counted.ads)).toEqual(['2026-03-01/banner//main//: ad_requests=4']);
  });

  it('moves a device’s last active day forward only', () => {
    const counted = tally(
      [event('retention', '2026-03-04', { age: 3 }), event('custom', '2026-03-02')],
      known(),
    );
    expect(show(counted.activity)).toEqual([
      '2026-03-01//3: active_devices=1 last_active_devices=1',
      '2026-03-01//0: last_active_devices=-1',
      '2026-03-01//1: active_devices=1',
    ]);
  });

  it('counts a retention event on the day number it reports', () => {
    const counted = tally([event('retention', '2026-03-02', { age: 2 })], known());
    expect(show(counted.daily)).toEqual(['2026-03-02//: active_devices=1 sessions=1']);
    expect(show(counted.activity)).toContain('2026-03-01//2: active_devices=1 last_active_devices=1');
  });

  it('counts events before the acquisition on their own day and as age 0', () => {
    const counted = tally([event('custom.ad', '2026-02-27')], known());
    expect(show(counted.daily)).toEqual([
      '2026-02-27//eur: impressions=1 ad_revenue=7',
      '2026-02-27//: active_devices=1',
    ]);
    expect(show(counted.activity)).toEqual([]);
    expect(counted.devices[0]?.activeDays).toBe('-2,0');
  });

  it('counts a payer on each day of a purchase, also before the acquisition', () => {
    const days = ['2026-02-26', '2026-02-27', '2026-02-27', '2026-03-01'];
    const counted = tally(
      days.map((day) => event('custom.purchase', day)),
      known(),
    );
    expect(show(counted.daily).filter((row) => row.includes('payers'))).toEqual(
      [
        '2026-02-26//: active_devices=1 payers=1',
        '2026-02-27//: active_devices=1 payers=1',
        '2026-03-01//: payers=1',
      ].map((row) => expect.stringMatching(new RegExp(`^${row.replaceAll('/', '.')}`))),
    );
    expect(counted.devices[0]?.paidDays).toBe('-3--2,0');
  });

  it('keeps the first time of a step, whatever the order of arrival', () => {
    const late = event('custom', '2026-03-05');
    const early = event('custom', '2026-03-02');
    for (const events of [
      [late, early],
      [early, late],
    ]) {
      const [state] = tally(events, known()).devices;
      expect(stepsOf(state)['event:level_1']).toBe(early.occurred_at);
    }
  });

  it('counts nothing for an erased device', () => {
    const counted = tally([event('custom.ad', '2026-03-01')], known([]));
    expect([show(counted.daily), show(counted.revenue), counted.devices]).toEqual([[], [], []]);
  });

  it('counts no test event or test device', () => {
    const nothing = [[], [], [], []];
    const show_ = (events: LoggedEvent[], of: TallyInput) => {
      const counted = tally(events, of);
      return [show(counted.daily), show(counted.revenue), show(counted.activity), counted.devices];
    };
    const purchase = (more: Body<'custom.purchase'>) => event('custom.purchase', '2026-03-02', more);
    expect(
      show_([purchase({ test: true }), event('install', '2026-03-01', { test: true })], known()),
    ).toEqual(nothing);
    expect(show_([purchase({})], known([device({ test: true })]))).toEqual(nothing);
  });

  it('counts no event after the revocation of its token, but always its install', () => {
    const events = [999, 1_000, 1_001].map((received_at) =>
      event('custom.ad', '2026-03-01', {
        received_at,
        token_id: 'tok_1',
      }),
    );
    const other = event('custom.ad', '2026-03-01', { received_at: 1_001, token_id: 'tok_2' });
    const install = event('install', '2026-03-01', { received_at: 1_001, token_id: 'tok_1' });
    const counted = tally([...events, other, install], known([device()], [], [['tok_1', 1_000]]));
    expect(show(counted.daily)).toEqual([
      '2026-03-01//eur: impressions=2 ad_revenue=14',
      '2026-03-01//: installs=1',
    ]);
  });

  it('counts a refund without a transaction only as activity of its device', () => {
    const refund = event('custom.purchase', '2026-03-02', { status: 'refunded' });
    const counted = tally([refund], known());
    expect(show(counted.daily)).toEqual(['2026-03-02//: active_devices=1']);
    expect([show(counted.items), show(counted.revenue)]).toEqual([[], []]);
    expect(counted.devices).toEqual([
      device({
        activeDays: '0-1',
        activeAges: '0-1',
        activeVersions: '[["app_version","sdk_version"],["1.0",""],1,43200]',
      }),
    ]);
  });

  describe('the end of a session', () => {
    const start = () => event('retention', '2026-03-02', { session_id: 'a' });
    const end = (more: Body<'retention'> = {}) =>
      event('retention', '2026-03-02', { session_id: 'a', session_end: true, session_seconds: 30, ...more });
    it.each([
      {
        what: 'after its start',
        events: () => [start(), end()],
        sums: 'sessions=1 session_seconds=30 ended_sessions=1',
      },
      {
        what: 'before its start',
        events: () => [end(), start()],
        sums: 'sessions=1 session_seconds=30 ended_sessions=1',
      },
      {
        what: 'without a start',
        events: () => [end()],
        sums: 'sessions=1 session_seconds=30 ended_sessions=1',
      },
      {
        what: 'that comes again',
        events: () => [end(), start(), end({ session_seconds: 31 })],
        sums: 'sessions=1 session_seconds=30 ended_sessions=1',
      },
      {
        what: 'without a length',
        events: () => [start(), end({ session_seconds: undefined })],
        sums: 'sessions=1',
      },
      {
        what: 'of another session',
        events: () => [start(), end({ session_id: 'b' })],
        sums: 'sessions=2 session_seconds=30 ended_sessions=1',
      },
      {
        what: 'without an id, whose start is the session',
        events: () => [event('retention', '2026-03-02'), end({ session_id: undefined })],
        sums: 'sessions=1 session_seconds=30 ended_sessions=1',
      },
      {
        what: 'that is none, whatever its length',
        events: () => [end({ session_end: undefined })],
        sums: 'sessions=1',
      },
    ])('$what', ({ events, sums }) => {
      expect(show(tally(events(), known()).daily)).toEqual([`2026-03-02//: active_devices=1 ${sums}`]);
    });

    it('is remembered after the run', () => {
      const counted = tally([start(), end()], known());
      expect(counted.sessions).toEqual(['s:dev_1:a', 'se:dev_1:a']);
      const again = tally([end()], known([device()], ['s:dev_1:a', 'se:dev_1:a']));
      expect(show(again.daily)).toEqual(['2026-03-02//: active_devices=1']);
    });
  });

  describe('the work for an event', () => {
    afterEach(() => vi.restoreAllMocks());

    it('does not grow with the days and steps that its device has had', () => {
      // As many days apart as there may be, and all the steps there is room for.
      const days = Array.from({ length: 3_000 }, (_, index) => index * 2).join(',');
      const history = StepHistory.read(null);
      for (let index = 0; index < 196; index++) history.add(`event:${index}`, index);
      const old = device({ activeDays: days, activeAges: days, steps: history.toStored() });
      const [parseDays, readSteps] = [vi.spyOn(DaySet, 'parse'), vi.spyOn(StepHistory, 'read')];
      const stringify = vi.spyOn(DaySet.prototype, 'toString');
      const operations = (count: number) => {
        const events = Array.from({ length: count }, (_, index) =>
          event('custom', '2026-03-02', { event_name: `name ${index}` }),
        );
        for (const spy of [parseDays, readSteps, stringify]) spy.mockClear();
        expect(show(tally(events, known([old])).daily)[0]).toContain(`custom_events=${count}`);
        return [parseDays, readSteps, stringify].map((spy) => spy.mock.calls.length);
      };
      expect(operations(1)).toEqual([2, 1, 2]);
      expect(operations(2_000)).toEqual([2, 1, 2]);
    });

    it('is bounded: names beyond a device’s steps are counted, but are no steps', () => {
      const names = Array.from({ length: 20_000 }, (_, index) =>
        event('custom', '2026-03-01', {
          event_name: `name ${index}`,
          occurred_at: 50_000_000 - 1_000 * index,
        }),
      );
      const purchase = event('custom.purchase', '2026-03-01');
      const counted = tally([...names, purchase], known());
      expect(rowsOf(counted.custom)).toHaveLength(20_000);
      const steps = stepsOf(counted.devices[0]);
      // The steps that are no events' names always have room.
      expect(Object.keys(steps)).toHaveLength(MAX_FUNNEL_STEPS - 2);
      expect(steps.purchase).toBe(purchase.occurred_at);
      // A step that is kept still learns of an earlier time.
      const earlier = tally(
        [event('custom', '2026-03-01', { event_name: 'name 0', occurred_at: 7_000 })],
        known(counted.devices),
      );
      expect(stepsOf(earlier.devices[0])['event:name 0']).toBe(7_000);
    });
  });

  it('splits each row by segment: by the version of the event or, in cohorts, of the acquired device', () => {
    const book = new SegmentBook();
    const id = (app_version: string) =>
      book.idOf({ ...UNKNOWN_SEGMENT, country: 'de', os: 'android', network: 'meta', app_version });
    const counted = tally(
      [
        event('custom.ad', '2026-03-02'),
        event('custom.ad', '2026-03-02', { device: { app_version: '2.0' } }),
        event('click', '2026-03-02', {
          creative_id: 'crt_1',
          country: 'fr',
          os_family: 'ios',
          network: 'tiktok',
        }),
      ],
      { ...known(), segments: book },
    );
    /** Each cell's segment and sums. */
    const segmentsOf = (additions: Additions<RollupTable>) =>
      cellsOf(additions).map(({ segment, sums }) => [segment, ...sums]);
    expect(segmentsOf(counted.ads)).toEqual([
      [id('1.0'), 1, 7, 0, 0],
      [id('2.0'), 1, 7, 0, 0],
    ]);
    expect(segmentsOf(counted.revenue)).toEqual([[id('1.0'), 14, 0, 0, 0, 0, 0]]);
    const click = book.idOf({ ...UNKNOWN_SEGMENT, country: 'fr', os: 'ios', network: 'tiktok' });
    expect(segmentsOf(counted.daily).map(([first, clicks]) => [first, clicks])).toContainEqual([click, 1]);
    expect(book.added).toHaveLength(3);
    const updated = event('custom.ad', '2026-03-02', { device: { app_version: '2.0' } });
    const first = tally([updated], { ...known(), segments: book });
    expect(segmentsOf(first.revenue)).toEqual([[id('1.0'), 7, 0, 0, 0, 0, 0]]);
  });

  it('adds amounts beyond 2^53 exactly, and writes them in two parts', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const additions = new Additions('cohort_revenue');
    const key = { application_id: 'a', acquired_day: 'd', creative_id: '', day: 'd', currency: 'vnd' };
    for (let index = 0; index < 3; index++) additions.add(key, 7, { ad_revenue: most });
    // 3 × 9,007,199,254,740,991 nanos.
    expect([...additions.rows()][0]?.slice(5)).toEqual([597764222973, 27021, 0, 0, 0, 0]);
  });
});
