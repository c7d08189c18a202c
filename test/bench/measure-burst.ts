import { CountingBench } from './measure-counting.ts';
import type { Rig } from './rig.ts';
import type { Tenant } from './tenant.ts';
import { benchDay } from './workload.ts';

// How long a report takes to be complete after a burst of events: it waits two seconds for its counters, says how many events it left out,
// and is complete when it is asked again.

const BURST_EVENTS = 100_000;
const QUICK_EVENTS = 20_000;
/** As a dashboard does that someone watches. */
const ASKED_EVERY_MS = 250;
const MAX_SECONDS = 120;

export const BURST_STEPS = 2;

type Answer = { uncounted: number | null; totals: { impressions: number } };

/** Asks for a report until it lacks nothing. Returns how many seconds that takes, and how often it was asked. */
async function untilComplete(rig: Rig, tenant: Tenant, applicationId: string) {
  const query = `application_id=${applicationId}&from=${benchDay(29)}&to=${benchDay(0)}`;
  const url = new URL(`/v1/reports/performance?${query}`, await rig.url('service'));
  const startedAt = performance.now();
  for (let asked = 1; ; asked++) {
    const response = await fetch(url, { headers: { 'Service-Token': tenant.teamToken } });
    const text = await response.text();
    if (!response.ok) throw new Error(`the report answered ${response.status}: ${text}`);
    const seconds = (performance.now() - startedAt) / 1_000;
    const { uncounted, totals }: Answer = JSON.parse(text);
    if (uncounted === 0) return { seconds, asked, impressions: totals.impressions };
    if (seconds > MAX_SECONDS) throw new Error(`the report still lacks ${uncounted} events`);
    await new Promise((resolve) => setTimeout(resolve, ASKED_EVERY_MS));
  }
}

export async function measureBurst(rig: Rig, tenant: Tenant, isQuick: boolean, step: (what: string) => void) {
  const bench = new CountingBench(rig, tenant, step);
  const events = isQuick ? QUICK_EVENTS : BURST_EVENTS;
  const app = await bench.open('Burst');
  step(`${events} events at once`);
  await bench.consume(app, events);
  step('a report until it is complete');
  const { seconds, asked, impressions } = await untilComplete(rig, tenant, app);
  if (impressions < events / 2) throw new Error('the report lacks events, so its time means nothing');
  return { burst_seconds_until_complete: seconds, burst_reports_until_complete: asked };
}
