import { env } from 'cloudflare:workers';
import { vi } from 'vitest';
import { DIMENSIONS } from '#catalogue';
import type { Endpoint } from '#http';
import { ENDPOINTS } from '../../src/service.ts';
import { PAGES_OF_ONE, PLAIN_PAGES } from '../helpers/dashboard-pages.ts';
import { settleAll } from '../helpers/settle.ts';
import { startWorker } from '../helpers/worker.ts';
import { pathOf, send } from './requests.ts';
import { DAY, FROM, marksOf, type Side, TO, worker } from './sides.ts';

// What a side sees and has: the answers of every endpoint that reads, every page of the dashboard, its rows of every table of D1 and its
// files.

/** One time for all that is compared, so that no text differs by the clock. After all that the tests do. */
const THEN = Date.now() + 10 * 60_000;

async function atThatTime<Result>(work: () => Promise<Result>): Promise<Result> {
  vi.setSystemTime(THEN);
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

type Visible = Record<string, string>;

/** What several teams share, and an owner of the first one alone sees. */
const SHARED = '/v1/app-store-apps';

const isRead = ({ method, credential, path }: Endpoint) =>
  method === 'get' && credential === 'teamToken' && path !== SHARED;

/** A report grouped by each dimension. */
const performanceBy = (application: string) =>
  Object.keys(DIMENSIONS).map(
    (dimension) =>
      `/v1/reports/performance?application_id=${application}&from=${FROM}&to=${TO}&group_by=${dimension}`,
  );

async function answersOf(
  side: Side,
  isWanted: (endpoint: Endpoint) => boolean,
  of: Pick<typeof worker, 'team' | 'request'>,
): Promise<Visible> {
  return atThatTime(async () => {
    const seen: Visible = {};
    for (const endpoint of ENDPOINTS.filter(isWanted)) {
      const answer = await send(endpoint, side, side.things, undefined, of);
      const text = await textOf(answer);
      if (answer.status !== 200) throw new Error(`${pathOf(endpoint, side.things)}: ${text}`);
      seen[`GET ${endpoint.path}`] = text;
    }
    for (const path of performanceBy(side.things.application)) {
      seen[`GET ${path.split('&').at(-1)}`] = await textOf(await of.team(side.tenant, path));
    }
    return seen;
  });
}

/** The answers of the team API to everything that a side may read. */
export const answersTo = (side: Side) => answersOf(side, isRead, worker);

/** Those with figures, for which an isolate remembers the most. */
export const reportsTo = (side: Side, of: Pick<typeof worker, 'team' | 'request'> = worker) =>
  answersOf(side, (endpoint) => isRead(endpoint) && endpoint.path.startsWith('/v1/reports/'), of);

const TOOLS = [
  ['list_applications', {}],
  ['search', { query: 'cat' }],
  ['report', { report: 'performance', group_by: ['creative'], from: FROM, to: TO }],
  ['report', { report: 'ltv', from: FROM, to: TO }],
] as const;

/** What the tools of an assistant answer to a side. */
export async function toolsOf({ tenant, things }: Side): Promise<Visible> {
  return atThatTime(async () => {
    const seen: Visible = {};
    for (const [name, values] of TOOLS) {
      const within = name === 'list_applications' ? {} : { application_id: things.application };
      const answer = await worker.request('/mcp', {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          Authorization: `Bearer ${tenant.teamToken}`,
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name, arguments: { ...values, ...within } },
        }),
      });
      seen[`tool ${name} ${JSON.stringify(values)}`] = await textOf(answer);
    }
    return seen;
  });
}

const COST_ROW = new URLSearchParams({
  ...{ date: DAY, campaign: 'Spring', adset: 'Young', creative: 'Cat', currency: 'usd' },
});

/** Without what differs in every request. */
const textOf = async (answer: Response) =>
  `${answer.status} ${(await answer.text()).replaceAll(/Request id: [\w-]+|"database_bytes":\d+/g, '')}`;

const routeOf = (route: string, side: Side): string =>
  route
    .replace('/creatives/:id', `/creatives/${side.things.creative}`)
    .replace('/connectors/:id', `/connectors/${side.things.connector}`)
    .replace('/alerts/:id', `/alerts/${side.things.alert}`)
    .replace('/applications/:id', `/applications/${side.things.application}`)
    .replace('/destinations/:id', `/destinations/${side.things.destination}`)
    .replace('/deliveries/:event', `/deliveries/${side.things.event}`)
    .replace('/debugger/event', `/debugger/event?id=${side.things.event}`)
    .replace('/debugger/device', `/debugger/device?device_id=${side.more.devices[0]}`)
    .replace('/costs/row', `/costs/row?${COST_ROW}`);

/** The pages of the dashboard as a side's owner sees them. */
export async function pagesOf(side: Side): Promise<Visible> {
  return atThatTime(async () => {
    const seen: Visible = {};
    for (const route of [...PLAIN_PAGES, ...Object.keys(PAGES_OF_ONE)]) {
      const path = routeOf(route, side);
      const separator = path.includes('?') ? '&' : '?';
      const address = `${path}${separator}app=${side.things.application}&from=${FROM}&to=${TO}`;
      const answer = await side.browser.get(address);
      seen[`page ${route}`] = await textOf(answer);
    }
    const shared = await worker.request(side.more.shared);
    seen['shared page'] = await textOf(shared);
    return seen;
  });
}

const idsOf = (side: Side, withTeam: boolean): string[] => [
  side.things.application,
  ...(withTeam ? [side.tenant.team.id] : []),
  ...[...side.more.creatives, ...side.more.connectors, ...side.more.destinations, ...side.more.devices],
];

/** Every row of every table of D1, as JSON. */
async function allRows(): Promise<string[]> {
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'",
  ).all<{ name: string }>();
  const rows = await env.DB.batch(tables.map(({ name }) => env.DB.prepare(`SELECT * FROM "${name}"`)));
  return rows.flatMap(({ results }, table) =>
    results.map((row) => `${tables[table]?.name} ${JSON.stringify(row)}`),
  );
}

/** A side's rows, by any id that it has in them, and the names of its files. A team's rows are those of all its applications. */
export async function storedOf(side: Side, { withTeam = true } = {}): Promise<Visible> {
  const ids = idsOf(side, withTeam);
  const isOwn = (text: string) => ids.some((id) => text.includes(id));
  const files = await env.RAW_EVENTS.list();
  const own = [...(await allRows()), ...files.objects.map(({ key, etag }) => `file ${key} ${etag}`)].filter(
    isOwn,
  );
  return Object.fromEntries(own.map((text) => [text, text]));
}

const AROUND = 60;

/** What differs between what was seen before and after, each with the text around the first difference. */
export function differences(before: Visible, after: Visible): string[] {
  return Object.keys({ ...before, ...after }).flatMap((name) => {
    const [left = '', right = ''] = [before[name], after[name]];
    if (left === right) return [];
    const place = [...left].findIndex((letter, index) => letter !== right[index]);
    const from = Math.max(0, (place < 0 ? left.length : place) - AROUND);
    return [left, right].reduce((text, one) => `${text}\n  ${one.slice(from, from + 2 * AROUND)}`, name);
  });
}

/** The marks of a side that are in what another one sees. */
export function marksIn(seen: Visible | string, side: Side, except: readonly string[] = []): string[] {
  const texts = typeof seen === 'string' ? { answer: seen } : seen;
  const marks = marksOf(side).filter((mark) => !except.includes(mark));
  return Object.entries(texts).flatMap(([name, text]) =>
    marks.filter((mark) => text.includes(mark)).map((mark) => `${name}: ${mark}`),
  );
}

/** A Worker with modules of its own, which remembers nothing of what another has read. The counters start anew with it. */
export async function freshWorker({ tenant }: Side): Promise<typeof worker> {
  vi.resetModules();
  const { default: fresh } = await import('../../src/index.ts');
  // A counter of the former modules is gone, and says so to its next caller.
  for (let attempt = 1; ; attempt++) {
    try {
      await settleAll(tenant.application.id);
      return startWorker(worker.bindings, fresh);
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
}
