import { afterAll, beforeAll, expect, vi } from 'vitest';
import type { DeviceEvent } from '#catalogue';
import { DAY_MS, HOUR_MS } from '#lib/time';
import { measuredClickId, publicClickId } from '../../src/tracking/record.ts';
import { testBounds } from '../helpers/bounds.ts';
import { clickIdAt } from '../helpers/click-rows.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant } from '../helpers/tenant.ts';
import { eventsIn, startWorker } from '../helpers/worker.ts';

// When a click or an impression happened, as a network's server says it, and what comes of a time that cannot be.

const worker = startWorker();
const NOW = Date.UTC(2026, 10, 20, 12);
let links: { click: string; impression: string };
let own: { applicationId: string; creativeId: string };

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
  const tenant = await createTenant();
  const { id } = await createCreative(worker, tenant);
  own = { applicationId: tenant.application.id, creativeId: id };
  const answer = await worker.team(tenant, `/v1/creatives/${id}/links`);
  ({ server_links: links } = await answer.json<{ server_links: typeof links }>());
});
afterAll(() => {
  vi.useRealTimers();
});

/** The status, and the times and the day of the event; the click's id begins with its time. */
const reported =
  (kind: 'click' | 'impression', form: (at: number) => string) =>
  async (at: number): Promise<unknown[]> => {
    const { pathname, search } = new URL(links[kind]);
    const time = encodeURIComponent(form(at));
    const answer = await worker.request(`${pathname}${search}&id=n-1&time=${time}`, { redirect: 'manual' });
    const events = worker.queue.take().flatMap(({ body }) => eventsIn<DeviceEvent>(body));
    return [
      answer.status,
      ...events.flatMap(({ id, occurred_at, received_at, day }) => {
        expect(Number.parseInt(id.slice(4, 16), 16)).toBe(occurred_at);
        expect(received_at).toBe(NOW);
        return [occurred_at, day];
      }),
    ];
  };

const FORMS: [string, (at: number) => string, number][] = [
  ['milliseconds', String, 1],
  ['seconds', (at) => String(at / 1_000), 1_000],
  ['ISO 8601', (at) => new Date(at).toISOString(), 1],
];
const TODAY = '2026-11-20';

testBounds(
  'a time in a report',
  (['click', 'impression'] as const).flatMap((kind) =>
    FORMS.flatMap(([name, form, step]) => {
      const ask = reported(kind, form);
      return [
        {
          name: `${kind}, now, in ${name}`,
          ...{ at: NOW, step, ask },
          ...{ below: [200, NOW - step, TODAY], exact: [200, NOW, TODAY], above: [200, NOW, TODAY] },
        },
        {
          name: `${kind}, in a month, in ${name}`,
          ...{ at: NOW + 30 * DAY_MS, step, ask },
          ...{ below: [200, NOW, TODAY], exact: [200, NOW, TODAY], above: [200, NOW, TODAY] },
        },
        {
          name: `${kind}, 28 days ago, in ${name}`,
          ...{ at: NOW - 28 * DAY_MS, step, ask },
          below: [400],
          exact: [200, NOW - 28 * DAY_MS, '2026-10-23'],
          above: [200, NOW - 28 * DAY_MS + step, '2026-10-23'],
        },
      ];
    }),
  ),
);

testBounds('a measurement', [
  {
    name: 'an hour after its click',
    at: HOUR_MS,
    ask: async (after: number) => {
      const clickId = clickIdAt(NOW);
      const link = own as never;
      const click_id = (await publicClickId(worker.bindings, link, clickId)) ?? '';
      return (await measuredClickId(worker.bindings, link, { click_id } as never, NOW + after)) === clickId;
    },
    ...{ below: true, exact: true, above: false },
  },
]);
