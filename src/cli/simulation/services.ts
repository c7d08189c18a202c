import { rename, writeFile } from 'node:fs/promises';
import type { Connector } from '#connectors';
import { DAY_MS, type DayRange } from '#lib/time';
import type { Api } from '../api.ts';
import { localState } from '../local-state.ts';
import { triggerMinute } from '../schedule.ts';
import type { Demo } from '../seed-demo.ts';
import { APPLE_AD } from './apple-ads.ts';
import { RECEIVER_URL, simulatedFile } from './stand-in.ts';
import { SIMULATED_KEY, type Simulated } from './told.ts';

// The services that the simulated application is connected to. `npm start` answers in their place: see `stand-in.ts`.

const STORE_ID = 'com.example.game';
const CONNECTORS = [
  {
    kind: 'tiktok',
    settings: { advertiser_id: '7012345678901234567' },
    credentials: { access_token: SIMULATED_KEY },
  },
  ...['android', 'ios'].map((platform) => ({
    kind: 'max',
    settings: { application: STORE_ID, platform },
    credentials: { report_key: SIMULATED_KEY },
  })),
];
/** AppLovin keeps reports for 45 days; the last two may not be ready. */
const MAX_REPORT_DAYS = 43;
/** A run reads a week of a backfill. */
const MAX_RUNS = 60;

/** Lets Apple say which ads led to installs, and has a destination for what is counted. Before the devices, which both are about. */
export async function connectBefore(api: Api, demo: Demo): Promise<void> {
  const { id: applicationId } = demo.application;
  const { id, ...named } = APPLE_AD;
  await api.team(
    'POST',
    '/v1/creatives',
    { ...named, app_api_key: demo.api_key, external_ids: [{ network: 'apple_ads', id: String(id) }] },
    { 'Idempotency-Key': 'simulated-apple-creative' },
  );
  await api.team('PATCH', `/v1/applications/${applicationId}`, { apple_ads: true });
  const list = `/v1/destinations?application_id=${applicationId}`;
  const { data } = await api.team<{ data: { url?: string | null }[] }>('GET', list);
  if (data.some(({ url }) => url === RECEIVER_URL)) return;
  await api.team('POST', '/v1/destinations', {
    ...{ application_id: applicationId, kind: 'webhook', url: RECEIVER_URL },
    events: ['install', 'purchase', 'refund'],
  });
}

/** Adds the connectors that are missing, and runs them until they have read the days from `from` to `to`. */
export async function fetchReports(
  api: Api,
  demo: Demo,
  simulated: Simulated,
  { from, to }: DayRange,
): Promise<void> {
  const { directory } = localState();
  const unfinished = `${simulatedFile(directory)}.new`;
  await writeFile(unfinished, JSON.stringify(simulated), { mode: 0o600 });
  await rename(unfinished, simulatedFile(directory));

  const list = `/v1/connectors?application_id=${demo.application.id}`;
  const read = async () => (await api.team<{ data: Connector[] }>('GET', list)).data;
  const isOf = (row: Connector, wanted: (typeof CONNECTORS)[number]) =>
    row.kind === wanted.kind &&
    Object.entries(wanted.settings).every(([name, value]) => row.settings[name] === value);
  const present = await read();
  for (const wanted of CONNECTORS) {
    if (present.some((row) => isOf(row, wanted))) continue;
    await api.team('POST', '/v1/connectors', { application_id: demo.application.id, ...wanted });
  }
  const own = async () => (await read()).filter((row) => CONNECTORS.some((wanted) => isOf(row, wanted)));
  for (const { id, kind } of await own()) {
    const since = new Date(Date.parse(to) - (MAX_REPORT_DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
    const first = kind === 'max' && since > from ? since : from;
    await api.team('POST', `/v1/connectors/${id}/backfill`, { from: first, to });
  }
  for (let run = 0; run < MAX_RUNS; run++) {
    await triggerMinute(demo.base_url);
    const waiting = (await own()).filter(({ state }) => state !== 'idle' && state !== 'failing');
    if (waiting.length === 0) return;
  }
}
