import { describe, expect, it } from 'vitest';
import { EventEnvelope } from '#catalogue';
import { NETWORKS } from '#networks';
import { APPLE_AD, devicesAd, isBroughtByApple } from '../../src/cli/simulation/apple-ads.ts';
import { simulateCosts } from '../../src/cli/simulation/costs.ts';
import {
  simulateDevices,
  simulateEvents,
  simulateImpressions,
  simulateRates,
} from '../../src/cli/simulation/history.ts';
import { Random } from '../../src/cli/simulation/random.ts';
import { CREATIVES } from '../../src/cli/simulation/world.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 86_400_000;
const devicesOf = (seed: number, count = 2_000) => simulateDevices(new Random(seed), count, 35, NOW, seed);
const historyOf = (seed: number, count?: number) =>
  devicesOf(seed, count).map((device, index) => ({
    device,
    events: simulateEvents(new Random(index), device, NOW),
  }));

describe('the simulated history', () => {
  const history = historyOf(7);
  const ageOf = (at: string, acquired: number) =>
    (Date.parse(`${at.replace(' ', 'T')}Z`) - acquired) / DAY_MS;

  it('depends only on its seed', () => {
    expect(historyOf(7, 50)).toEqual(historyOf(7, 50));
    expect(historyOf(8, 50)).not.toEqual(historyOf(7, 50));
  });

  it('lies in the past, with keys, and is valid', () => {
    const sent = history
      .slice(0, 300)
      .flatMap(({ device, events }) => events.map((event) => ({ device, event })));
    const faults = sent.flatMap(({ event }) => {
      const checked = EventEnvelope.safeParse({ ...event, creativeToken: 'token' });
      return checked.success ? [] : checked.error.issues;
    });
    expect(faults).toEqual([]);
    const ages = sent.map(({ device, event }) => ageOf(event.created_at, device.acquiredAt));
    expect(Math.min(...ages)).toBeGreaterThan(-0.001);
    expect(sent.filter(({ event }) => Date.parse(`${event.created_at.replace(' ', 'T')}Z`) > NOW)).toEqual(
      [],
    );
    expect(new Set(sent.map(({ event }) => event.event_id)).size).toBe(sent.length);
    expect(sent.length).toBeGreaterThan(1_000);
  });

  it('covers Android, iOS and several countries', () => {
    const share = (of: (device: (typeof history)[number]['device']) => boolean) =>
      history.filter(({ device }) => of(device)).length / history.length;
    expect(share(({ model }) => model.os.startsWith('iOS'))).toBeGreaterThan(0.2);
    expect(share(({ model }) => model.os.startsWith('Android'))).toBeGreaterThan(0.5);
    const codes = new Set(history.map(({ device }) => device.country.code));
    expect([...codes].sort()).toEqual(['br', 'de', 'gb', 'jp', 'us']);
    const systems = new Set(history.flatMap(({ events }) => events.map(({ os_system }) => os_system)));
    expect([...systems].sort()).toEqual(['Android 16', 'iOS 18.6', 'iOS 26.1']);
  });

  it('has a retention curve, a weekly rhythm and a Zipf distribution', () => {
    const old = history.filter(({ device }) => device.acquiredAt < NOW - 10 * DAY_MS);
    const active = (day: number) =>
      old.filter(({ device, events }) =>
        events.some(({ created_at }) => Math.round(ageOf(created_at, device.acquiredAt)) === day),
      ).length / old.length;
    expect(active(1)).toBeGreaterThan(0.3);
    expect(active(1)).toBeLessThan(0.55);
    expect(active(7)).toBeLessThan(active(1) / 1.7);
    const stay = old.filter(({ device, events }) => {
      const ages = events.map(({ created_at }) => Math.round(ageOf(created_at, device.acquiredAt)));
      return Math.max(...ages) >= 7;
    });
    expect(stay.length / old.length).toBeGreaterThan(active(7));
    expect(stay.length / old.length).toBeLessThan(0.45);
    const by = (creative: number) => history.filter(({ device }) => device.creative === creative).length;
    expect(by(0)).toBeGreaterThan(1.5 * by(1));
    expect(by(1)).toBeGreaterThan(by(6));
  });

  it('ends each session with its length, unless it is still going on', () => {
    type Session = { session_id?: string; sid?: string; sd?: number };
    const at = ({ created_at }: { created_at: string }) => Date.parse(`${created_at.replace(' ', 'T')}Z`);
    const lengths = history.slice(0, 300).flatMap(({ events }) => {
      const payloads = events.map((event) => ({ event, payload: event.payload as Session }));
      return payloads
        .filter(({ event }) => event.type === 'retention')
        .map((start) => {
          const end = payloads.find(
            ({ event, payload }) => event.type === 'session' && payload.sid === start.payload.session_id,
          );
          if (!end) return at(start.event) > NOW - 30 * 60_000 ? null : Number.NaN;
          expect(Math.abs(at(start.event) + 1000 * (end.payload.sd ?? 0) - at(end.event))).toBeLessThan(2000);
          return end.payload.sd ?? Number.NaN;
        });
    });
    const ended = lengths.filter((length) => length !== null);
    const mean = ended.reduce((sum, length) => sum + length, 0) / ended.length;
    expect(mean).toBeGreaterThan(3 * 60);
    expect(mean).toBeLessThan(15 * 60);
    expect(lengths.length - ended.length).toBeLessThan(10);
  });

  it('earns about as much as real games', () => {
    const ads = history.flatMap(({ events }) => events).filter(({ type }) => type === 'custom.ad');
    const ecpm = (source: string) => {
      const shown = ads
        .map(({ payload }) => payload as { source: string; value: number })
        .filter((ad) => ad.source === source);
      return (1000 * shown.reduce((sum, { value }) => sum + value, 0)) / shown.length;
    };
    expect(ecpm('rewarded_video')).toBeGreaterThan(6);
    expect(ecpm('rewarded_video')).toBeLessThan(25);
    expect(ecpm('banner')).toBeLessThan(1);
    const payers = history.filter(({ events }) => events.some(({ type }) => type === 'custom.purchase'));
    expect(payers.length / history.length).toBeGreaterThan(0.01);
    expect(payers.length / history.length).toBeLessThan(0.06);
  });
});

it('keeps running totals as a client would', () => {
  for (const { events } of historyOf(9, 200)) {
    const ads = events
      .filter(({ type }) => type === 'custom.ad')
      .map(({ payload }) => payload as Record<string, number>);
    const sum = ads.reduce((total, { value = 0 }) => total + value, 0);
    expect(Math.max(0, ...ads.map(({ total_ad_value = 0 }) => total_ad_value))).toBeCloseTo(sum, 6);
  }
});

it('has costs and rates for the days of the devices', () => {
  const devices = devicesOf(3);
  const costs = simulateCosts(new Random(3), devices);
  expect(new Set(costs.map(({ date, creative }) => `${date}/${creative}`)).size).toBe(costs.length);
  expect(costs.every(({ amount }) => amount > 0)).toBe(true);
  const [first, second] = simulateRates(new Random(3), ['2026-03-01', '2026-03-02']);
  expect(Math.abs((second?.rates.eur ?? 0) / (first?.rates.eur ?? 1) - 1)).toBeLessThan(0.03);
});

it('has creatives of networks that the service knows, and their costs', () => {
  const known = NETWORKS.map(({ id }) => id);
  for (const { network } of CREATIVES) expect(known).toContain(network);
  const costs = simulateCosts(new Random(1), devicesOf(1, 400));
  expect(costs.length).toBeGreaterThan(0);
  const { creative } = APPLE_AD;
  for (const cost of costs) {
    expect([...CREATIVES, { creative, network: 'apple_ads' }]).toContainEqual(
      expect.objectContaining({ creative: cost.creative, network: cost.network }),
    );
  }
});

it('has costs of Apple for the days on which its ad brought devices', () => {
  const devices = devicesOf(1, 400);
  const brought = devices.filter(isBroughtByApple);
  for (const device of brought) expect(devicesAd(device.id)).toMatchObject({ adId: APPLE_AD.id });
  const days = new Set(brought.map(({ acquiredAt }) => new Date(acquiredAt).toISOString().slice(0, 10)));
  const costs = simulateCosts(new Random(1), devices).filter(({ network }) => network === 'apple_ads');
  expect(costs.map(({ date }) => date)).toEqual([...days].sort());
});

it('has the same days, costs and touches whenever it is repeated on a day', () => {
  const DAY = NOW - (NOW % DAY_MS);
  const [early, late] = [DAY + 60_000, DAY + DAY_MS - 60_000].map((now) => {
    const devices = simulateDevices(new Random(5), 500, 30, now, 5);
    const earlier = devices.filter(({ acquiredAt }) => acquiredAt < DAY);
    const touched = simulateImpressions(5, devices, now).filter(({ at, viewer }) => at < DAY && !viewer);
    return {
      ...{ costs: simulateCosts(new Random(5), devices), earlier },
      ids: devices.map(({ id }) => id).sort(),
      // Those of the first days are too old to be reported at the end of the day.
      shown: new Map(touched.map(({ id, at }) => [id, at])),
    };
  });
  if (!early || !late) throw new Error('Two runs');
  expect(late.costs).toEqual(early.costs);
  expect(late.earlier).toEqual(early.earlier);
  expect(late.ids).toEqual(early.ids);
  expect(late.shown.size).toBeGreaterThan(100);
  const earlierIds = new Set(late.earlier.map(({ id }) => id));
  for (const [id, at] of late.shown)
    if (earlierIds.has(id.replace(/-shown-\d+$/, ''))) expect([id, early.shown.get(id)]).toEqual([id, at]);
});
