import { expect, it } from 'vitest';
import type { ImpressionTemplate } from '#networks';
import { CALLBACK_TEMPLATE, divideCallbacks } from '../../src/cli/simulation/callbacks.ts';
import { simulateDevices, simulateEvents } from '../../src/cli/simulation/history.ts';
import { Random } from '../../src/cli/simulation/random.ts';
import { readCallback } from '../../src/impressions/read-callback.ts';
import { ImpressionTemplateChoice } from '../../src/teams/impression-template.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

it('tells of the ads of one network what their events would, but of no last one', () => {
  const template = ImpressionTemplateChoice.parse(CALLBACK_TEMPLATE) as ImpressionTemplate;
  const devices = simulateDevices(new Random(3), 200, 10, NOW, 3);
  let told = 0;
  for (const [index, device] of devices.entries()) {
    const all = simulateEvents(new Random(index), device, NOW);
    const { events, callbacks } = divideCallbacks(all, device.id);
    const sent = new Set(events);
    const others = all.filter((event) => !sent.has(event));
    expect(callbacks.map((callback) => readCallback(template, callback, NOW))).toEqual(
      others.map(({ event_id, created_at, payload }) => {
        const { value, ad_id, source, media_source } = payload as Record<string, unknown>;
        expect(media_source).toBe('vungle');
        return expect.objectContaining({
          ...{ id: event_id, device: device.id, nanos: Math.round(Number(value) * 1e9), currency: 'usd' },
          ...{ placement: ad_id, adFormat: source, warnings: [] },
          occurredAt: Date.parse(`${created_at.replace(' ', 'T')}Z`),
        });
      }),
    );
    const isAd = ({ type }: { type: string }) => type === 'custom.ad';
    expect(events.findLast(isAd)).toBe(all.findLast(isAd));
    told += callbacks.length;
  }
  expect(told).toBeGreaterThan(50);
});
