import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '#rollup';
import { Additions, ROLLUPS, type RollupTable } from '../../src/rollup/tables.ts';
import { type DeviceState, deviceKey, type Known, tally } from '../../src/rollup/tally.ts';

// What each event means for each metric, one row an event.

const device = (more: Partial<DeviceState> = {}): DeviceState => ({
  applicationId: 'app_1',
  acquiredDay: '2026-03-01',
  id: 'dev_1',
  activeDays: '0',
  activeAges: '0',
  paidDays: '',
  milestones: { install: 1 },
  ...more,
});

const known = (devices: DeviceState[] = [device()], keys: string[] = []): Known => ({
  devices: new Map(devices.map((state) => [deviceKey(state), state])),
  keys: new Map(keys.map((key) => [key, 'evt_counted'])),
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
    install: {},
    retention: { age: 1 },
    'custom.purchase': {
      item_id: 'gold',
      item_name: 'Gold',
      value_micros: 5,
      currency: 'usd',
      status: 'completed',
    },
    'custom.ad': { ad_id: 'main', source: 'banner', media_source: 'admob', value_micros: 7, currency: 'eur' },
    custom: { event_name: 'level_1' },
  };
  return { ...common, ...payloads[type], ...more, type } as unknown as LoggedEvent;
}

/** Rows as `key/parts: metric=sum`, without the sums of 0. */
function show<Table extends RollupTable>(additions: Additions<Table>): string[] {
  const { keys, metrics } = ROLLUPS[additions.table];
  return additions.rows().map((row) => {
    const sums = metrics
      .map((name, index) => `${name}=${row[keys.length + index]}`)
      .filter((sum) => !sum.endsWith('=0'));
    return `${row.slice(1, keys.length).join('/')}: ${sums.join(' ')}`;
  });
}

describe('tally', () => {
  it('counts an install, which is the first activity of its device', () => {
    const fresh = device({ activeDays: '', activeAges: '', milestones: {} });
    const counted = tally([event('install', '2026-03-01')], known([fresh]));
    expect(show(counted.daily)).toEqual(['2026-03-01//: installs=1 active_devices=1']);
    expect(show(counted.activity)).toEqual(['2026-03-01//0: active_devices=1 last_active_devices=1']);
    expect([...counted.devices.values()]).toEqual([
      {
        ...fresh,
        activeDays: '0',
        activeAges: '0',
        milestones: { install: Date.parse('2026-03-01T12:00:00Z') },
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

  it('counts a purchase with its payer once a day, a failed one apart and as no revenue', () => {
    const counted = tally(
      [
        event('custom.purchase', '2026-03-02'),
        event('custom.purchase', '2026-03-02', { status: 'success', value_micros: 6 }),
        event('custom.purchase', '2026-03-02', { status: 'failed', value_micros: 100 }),
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
    expect([...counted.devices.values()][0]).toMatchObject({
      paidDays: '1',
      milestones: { purchase: expect.any(Number) },
    });
  });

  it('makes no step of a funnel of a failed purchase', () => {
    const counted = tally([event('custom.purchase', '2026-03-01', { status: 'failed' })], known());
    expect(counted.devices.size).toBe(0);
  });

  it('counts one session for each session_id of a device, and one for each event without', () => {
    const events = ['a', 'a', 'b', undefined, undefined].map((session_id) =>
      event('retention', '2026-03-02', session_id ? { session_id } : {}),
    );
    const counted = tally(events, known([device()], ['app_1/0/s:dev_1:b']));
    expect(show(counted.daily)).toEqual(['2026-03-02//: active_devices=1 sessions=3']);
    expect(counted.keys.map(({ key }) => key)).toEqual(['s:dev_1:a']);
  });

  it('counts custom events by name, and ad requests by placement and format as well', () => {
    const requests = { count: 4, placement: 'main', source: 'banner' };
    const counted = tally(
      [
        event('custom', '2026-03-01'),
        event('custom', '2026-03-01', { event_name: 'ad_request', ad_requests: requests }),
      ],
      known(),
    );
    expect(show(counted.daily)).toEqual(['2026-03-01//: custom_events=2 ad_requests=4']);
    expect(show(counted.custom)).toEqual([
      '2026-03-01/level_1/: custom_events=1',
      '2026-03-01/ad_request/: custom_events=1',
    ]);
    expect(show(counted.ads)).toEqual(['2026-03-01/banner//main//: ad_requests=4']);
  });

  it('moves a device from its last active day to a later one, and not back', () => {
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

  it('counts what happened before the acquisition on its own day and as age 0', () => {
    const counted = tally([event('custom.ad', '2026-02-27')], known());
    expect(show(counted.daily)).toEqual([
      '2026-02-27//eur: impressions=1 ad_revenue=7',
      '2026-02-27//: active_devices=1',
    ]);
    expect(show(counted.activity)).toEqual([]);
    expect([...counted.devices.values()][0]?.activeDays).toBe('-2,0');
  });

  it('keeps the first time of a step, whatever the order of arrival', () => {
    const late = event('custom', '2026-03-05');
    const early = event('custom', '2026-03-02');
    for (const events of [
      [late, early],
      [early, late],
    ]) {
      const [state] = [...tally(events, known()).devices.values()];
      expect(state?.milestones['event:level_1']).toBe(early.occurred_at);
    }
  });

  it('counts one event of a key, now or ever', () => {
    const events = [
      event('custom', '2026-03-01', { keys: ['e:1'], key_day: 20_000 }),
      event('custom', '2026-03-01', { keys: ['e:1'], key_day: 20_000 }),
    ];
    const counted = tally(events, known());
    expect(show(counted.daily)).toEqual(['2026-03-01//: custom_events=1']);
    expect(counted.keys).toEqual([
      { applicationId: 'app_1', day: 20_000, key: 'e:1', eventId: events[0]?.id },
    ]);
    const again = tally(events, known([device()], ['app_1/20000/e:1']));
    expect(show(again.daily)).toEqual([]);
    expect(again.keys).toEqual([]);
  });

  it('counts nothing of an erased device', () => {
    const counted = tally([event('custom.ad', '2026-03-01', { keys: ['e:1'], key_day: 20_000 })], known([]));
    expect([show(counted.daily), show(counted.revenue), counted.keys, counted.devices.size]).toEqual([
      [],
      [],
      [],
      0,
    ]);
  });

  it('adds amounts beyond 2^53 exactly', () => {
    const most = Number.MAX_SAFE_INTEGER;
    const additions = new Additions('cohort_revenue');
    const key = { application_id: 'a', acquired_day: 'd', creative_id: '', day: 'd', currency: 'vnd' };
    for (let index = 0; index < 3; index++) additions.add(key, { ad_revenue: most });
    expect(additions.rows()[0]?.slice(5)).toEqual([String(3n * BigInt(most)), '0']);
  });
});
