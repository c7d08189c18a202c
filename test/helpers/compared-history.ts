import fc from 'fast-check';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { addDays } from '#lib/time';
import { createCreative } from './creatives.ts';
import { envelope } from './envelopes.ts';
import type { Page } from './page.ts';
import { signedIn } from './person.ts';
import { settleAll } from './settle.ts';
import { createTenant } from './tenant.ts';
import { fetchToken, startWorker } from './worker.ts';

// What tests of compared periods share: an application with figures on many days, random periods, and how pages name the days that they compare.

export const TODAY = '2026-03-15';
const HISTORY_DAYS = 45;
const CREATIVES = ['Dragon', 'Castle', 'Forest'];

/**
 * The history for the tests of a file, at a faked time. `open` reads a page of its application, `api` a report of the team API, and `idOf` is the
 * id of a creative.
 */
export function useComparedHistory() {
  const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
  let history: Awaited<ReturnType<typeof startComparedHistory>>;
  beforeAll(async () => {
    history = await startComparedHistory(worker);
  });
  afterAll(() => {
    vi.useRealTimers();
  });
  return {
    idOf: (creative: string) => history.ids.get(creative) ?? '',
    open: (path: string, query: string) =>
      history.browser.get(`${path}?app=${history.tenant.application.id}&${query}`),
    api: async <Answer>(report: string, days: Days, more: Record<string, string>): Promise<Answer> => {
      const { tenant } = history;
      const query = new URLSearchParams({ application_id: tenant.application.id, ...days, ...more });
      const answer = await worker.team(tenant, `/v1/reports/${report}?${query}`);
      if (answer.status !== 200) throw new Error(await answer.text());
      return answer.json();
    },
  };
}

/** Fakes the time and sends the history. `ids` are the creatives' by name. */
async function startComparedHistory(worker: ReturnType<typeof startWorker>) {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(`${TODAY}T09:30:00+09:00`) });
  const tenant = await createTenant({ timezone: 'Asia/Tokyo' });
  const browser = await signedIn(worker, tenant.team, 'admin');
  const ids = new Map<string, string>();
  const events: Record<string, unknown>[] = [];
  for (const [place, creative] of CREATIVES.entries()) {
    const made = await createCreative(worker, tenant, {
      creative,
      campaign: `${creative} ads`,
      adset: 'All',
    });
    ids.set(creative, made.id);
    for (let age = 0; age < HISTORY_DAYS; age += place + 1) {
      const day = addDays(TODAY, -age);
      const at = (clock: string) => ({ created_at: new Date(`${day}T${clock}+09:00`).toISOString() });
      const token = await fetchToken(worker, tenant, {
        ...at('01:30:00'),
        data: { creative_token: made.token, country: age % 3 === 0 ? 'de' : 'us' },
      });
      for (const [hour, clock] of ['03:00:00', '08:59:59', '09:00:00', '18:00:00'].entries()) {
        if (age === 0 && hour === 3) continue;
        const value = place + hour + (age % 7) + 1;
        events.push(envelope.purchase(token, at(clock), { value, tr_id: `${creative} ${day} ${clock}` }));
        events.push(envelope.ad(token, at(clock), { value: value / 8 }));
      }
    }
  }
  for (let start = 0; start < events.length; start += 500) {
    const answer = await worker.post(tenant, '/webhook/batch', { events: events.slice(start, start + 500) });
    expect(await answer.json()).toMatchObject({ rejected: 0 });
  }
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const rows = Array.from({ length: HISTORY_DAYS }, (_, age) => ({
    ...{ date: addDays(TODAY, -age), campaign: 'Dragon ads', currency: 'usd', amount: 3 + (age % 5) },
  }));
  const body = { application_id: tenant.application.id, rows };
  expect((await worker.team(tenant, '/v1/costs', { method: 'PUT', body })).status).toBe(200);
  return { tenant, browser, ids };
}

export type Days = { from: string; to: string; until_hour?: string };

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'];

/** The days of a label such as `9 Mar – 14 Mar` or `15 Mar 2025 until 09:00`. */
export function daysIn(text: string): Days {
  const [, days = '', until] =
    /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(.*?)(?: until (\d\d):00)?$/.exec(text) ?? [];
  const years = [...days.matchAll(/\d{4}/g)].map(([year]) => year);
  const dates = days.split(' – ').map((one) => {
    const [day = '', month = '', year = years.at(-1) ?? TODAY.slice(0, 4)] = one.split(' ');
    return `${year}-${String(MONTHS.indexOf(month) + 1).padStart(2, '0')}-${day.padStart(2, '0')}`;
  });
  const [from = '', to = from] = dates;
  return { from, to, ...(until ? { until_hour: String(Number(until)) } : {}) };
}

/** The periods that a part of a page names; null if it says that nothing is compared. */
export function periodsIn(part: Page): { now: Days; before: Days } | null {
  const label = part.texts('.muted').find((text) => text.includes('compared with'));
  if (label === undefined) return null;
  const [now = '', before = ''] = label.replace(/;.*/, '').split(' compared with ');
  return { now: daysIn(now), before: daysIn(before) };
}

const dayAgo = (age: number) => addDays(TODAY, -age);

export const period = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('today', 'yesterday', '7d', '28d', 'week', 'month') },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.integer({ min: -2, max: 20 }), fc.integer({ min: 0, max: 15 }))
      .map(([end, length]) => `custom&from=${dayAgo(end + length)}&to=${dayAgo(end)}`),
  },
);

/** The days of a period, as the API is asked for them. */
export function daysOf(chosen: string): Days {
  const [, from = '', to = ''] = /from=(.*)&to=(.*)/.exec(chosen) ?? [];
  if (from) return { from, to };
  if (chosen === 'month') return { from: '2026-03-01', to: TODAY };
  if (chosen === 'week') return { from: '2026-03-09', to: TODAY };
  if (chosen === 'today') return { from: TODAY, to: TODAY };
  if (chosen === 'yesterday') return { from: dayAgo(1), to: dayAgo(1) };
  return { from: dayAgo(Number.parseInt(chosen, 10)), to: dayAgo(1) };
}
