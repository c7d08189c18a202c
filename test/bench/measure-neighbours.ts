import { sql } from 'drizzle-orm';
import { database } from '../../src/db/index.ts';
import { createShareLink } from '../../src/views/views.ts';
import { seededRandom } from '../helpers/random.ts';
import { makeCredentials } from './credentials.ts';
import { makeEnvelope } from './envelope.ts';
import { httpRequest, putLoad } from './load.ts';
import { CountingBench } from './measure-counting.ts';
import { QUICK_YEAR } from './measure-segments.ts';
import { addDestination, startReceiver } from './receivers.ts';
import type { Rig } from './rig.ts';
import { makeApplication, makeTenant, type Tenant } from './tenant.ts';
import { benchDay, median } from './workload.ts';
import { YEAR_FROM, yearTo } from './year.ts';

// What a team feels of another: its webhook and its report alone, while the other asks for expensive reports, and while one of its receivers takes
// 15 s an answer and another one fails. Everything
// runs on one thread here, also what a deployment spreads over many isolates, so the ratios are an upper bound.

const ROUNDS = 7;
const SECONDS = 3;
/** As many as one backend keeps open. */
const CONNECTIONS = 16;
const REPORTS_AT_ONCE = 50;
/** Of everything else that reads reports. */
const READERS_AT_ONCE = 20;
const REPORTS = 9;

/** What is counted for the receivers in a round. */
const EVENTS = 1_000;

/** What the other team does. */
const DISTURBANCES = [
  'alone',
  'receivers',
  'reports',
  'preview',
  'share',
  'mcp',
  'export',
  'events',
] as const;
type Disturbance = (typeof DISTURBANCES)[number];

export const NEIGHBOUR_STEPS = DISTURBANCES.length * ROUNDS;

type Felt = { webhook: number; report: number };

/** Keeps `count` copies of `work` going until it is stopped. */
function keepBusy(count: number, work: () => Promise<unknown>): () => Promise<void> {
  let isStopped = false;
  const workers = Array.from({ length: count }, async () => {
    while (!isStopped) await work();
  });
  return async () => {
    isStopped = true;
    await Promise.all(workers);
  };
}

export async function measureNeighbours(rig: Rig, tenant: Tenant, step: (what: string) => void) {
  const devices = [{ id: `dev_${'1'.padStart(32, '0')}`, creativeId: null, acquiredDay: benchDay(1) }];
  const own = await makeCredentials(rig.db, tenant, 'Own', devices);
  const service = await rig.url('service');
  const random = seededRandom(1);
  const events = Array.from({ length: 500 }, () =>
    httpRequest(
      service,
      '/webhook',
      { 'Content-Type': 'application/json', 'service-api-key': own.apiKey },
      JSON.stringify(makeEnvelope(random, own.tokens[0] ?? '')),
    ),
  );
  const report = async (applicationId: string, teamToken: string, query: string) => {
    const url = new URL(`/v1/reports/${query}&application_id=${applicationId}`, service);
    const response = await fetch(url, { headers: { 'Service-Token': teamToken } });
    await response.text();
    // A team that asks for too many at once is told to wait.
    if (!response.ok && response.status !== 429) throw new Error(`${query} answered ${response.status}`);
  };
  const feel = async (): Promise<Felt> => {
    const { p50: webhook, failures } = await putLoad(service, events, CONNECTIONS, SECONDS);
    if (failures > 0) throw new Error(`${failures} events were refused`);
    const times: number[] = [];
    for (let index = 0; index < REPORTS; index++) {
      const startedAt = performance.now();
      await report(
        own.applicationId,
        tenant.teamToken,
        `performance?group_by=day&from=${benchDay(6)}&to=${benchDay(0)}`,
      );
      times.push(performance.now() - startedAt);
    }
    return { webhook, report: median(times) };
  };

  const other = await makeTenant(rig.db);
  const bench = new CountingBench(rig, other, () => undefined);
  const { applicationId: large } = await makeApplication(rig.db, other, 'Large');
  await bench.call(`/year/${large}`, 'POST', QUICK_YEAR);
  const expensive = `performance?group_by=creative,country&from=${YEAR_FROM}&to=${yearTo(QUICK_YEAR)}`;
  const broken = await bench.open('Broken receivers', 500);
  const receivers = [await startReceiver('slow'), await startReceiver('failing')];
  const switches = await Promise.all(receivers.map((one) => addDestination(rig, other, broken, one)));
  const turn = (isOn: boolean) => Promise.all(switches.map((set) => set(isOn)));
  await turn(false);
  let seed = 1;
  const secret = await createShareLink(
    { db: database(rig.db), team: { id: other.teamId }, actor: 'bench', now: Date.now() },
    {
      address: {
        path: '/breakdown',
        query: `app=${large}&from=${YEAR_FROM}&to=${yearTo(QUICK_YEAR)}&period=custom&by=creative`,
      },
      ...{ note: 'bench', days: 7 },
    },
    sql`TRUE`,
  );
  const read = async (path: string, init: RequestInit = {}) => {
    const headers = { 'Service-Token': other.teamToken, 'Content-Type': 'application/json' };
    const response = await fetch(new URL(path, service), { headers, ...init });
    const text = await response.text();
    if (response.status !== 200 && response.status !== 429) {
      throw new Error(`${path} answered ${response.status}: ${text.slice(0, 300)}`);
    }
  };
  const readers = (path: string, init?: () => RequestInit) => async () =>
    keepBusy(READERS_AT_ONCE, () => read(path, init?.()));
  const asked = { application_id: large, from: YEAR_FROM, to: yearTo(QUICK_YEAR) };
  const disturbances: Record<Disturbance, () => Promise<() => Promise<unknown>>> = {
    alone: async () => keepBusy(0, async () => undefined),
    receivers: async () => {
      await turn(true);
      await bench.call(`/append/${broken}/${EVENTS}/${seed++}`);
      await bench.ring(broken);
      return () => turn(false);
    },
    reports: async () => keepBusy(REPORTS_AT_ONCE, () => report(large, other.teamToken, expensive)),
    preview: readers('/v1/alerts/preview', () => ({
      method: 'POST',
      body: JSON.stringify({
        ...{ application_id: large, kind: 'metric', metric: 'roas', condition: 'falls', threshold: 10 },
        ...{ days: 30, group_by: 'creative', preview_days: 90 },
      }),
    })),
    share: readers(`/shared/${secret}`),
    mcp: readers('/mcp', () => ({
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${other.teamToken}` },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: {
          name: 'report',
          arguments: { ...asked, report: 'performance', group_by: ['creative', 'country'] },
        },
      }),
    })),
    export: readers(`/v1/reports/${expensive}&application_id=${large}&format=csv`),
    events: readers(`/v1/events?${new URLSearchParams({ ...asked, format: 'csv', limit: '200' })}`),
  };
  const felt = Object.fromEntries(DISTURBANCES.map((name) => [name, []])) as unknown as Record<
    Disturbance,
    Felt[]
  >;
  // Compiles what is measured.
  await feel();
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of DISTURBANCES) {
      step(`two teams, round ${round + 1} of ${ROUNDS}: ${name}`);
      const stop = await disturbances[name]();
      felt[name].push(await feel());
      await stop();
      await rig.untilIdle();
    }
  }
  const [slow, failing] = receivers.map(({ times }) => times.length);
  if (!slow || !failing) throw new Error('nothing was sent to the receivers');
  for (const receiver of receivers) receiver.stop();
  const of = (name: Disturbance, what: keyof Felt) => median(felt[name].map((one) => one[what]));
  const ratio = (name: Disturbance, what: keyof Felt) => of(name, what) / of('alone', what);
  return {
    neighbour_webhook_ms_alone: of('alone', 'webhook'),
    neighbour_report_ms_alone: of('alone', 'report'),
    ...Object.fromEntries(
      DISTURBANCES.filter((name) => name !== 'alone').flatMap((name) => [
        [`neighbour_webhook_ratio_${name}`, ratio(name, 'webhook')],
        [`neighbour_report_ratio_${name}`, ratio(name, 'report')],
      ]),
    ),
  };
}
