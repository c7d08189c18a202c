import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { database, connectors as table } from '#db';
import { strictly } from '../helpers/strict-fetch.ts';
import type { Tenant } from '../helpers/tenant.ts';
import type { TestWorker } from '../helpers/worker.ts';

// Stand-ins of networks, which answer from a ledger as their documentation says, and may be told to fail.

/** Spend of an ad on a day, in cents of the account's currency. */
export type Spent = {
  date: string;
  campaign: string;
  adset: string;
  ad: string;
  country: string;
  cents: number;
};

export type Network = 'meta' | 'tiktok' | 'applovin' | 'google' | 'pull';

export const CONNECTORS = {
  meta: { settings: { account_id: '17' }, credentials: { access_token: 'secret-token' } },
  tiktok: { settings: { advertiser_id: '71' }, credentials: { access_token: 'secret-token' } },
  applovin: { settings: { account_name: 'Mine' }, credentials: { report_key: 'secret-key' } },
  google: {
    settings: { customer_id: '123-456-7890' },
    credentials: { developer_token: 'd', client_id: 'i', client_secret: 's', refresh_token: 'r' },
  },
  pull: {
    settings: { url: 'https://costs.example.com/daily?from={from}&to={to}' },
    credentials: { bearer_token: 'secret-bearer' },
  },
} as const;

export const CURRENCIES: Record<Network, string> = {
  meta: 'eur',
  tiktok: 'jpy',
  applovin: 'usd',
  google: 'gbp',
  pull: 'usd',
};

/** Far below what the networks put on a page, so that every report has many. */
const PAGE = 5;
/** Beyond 2^53. */
export const idOf = (name: string): string =>
  `${23854855793500701n + BigInt(name.length * 1000 + (name.codePointAt(0) ?? 0))}`;

const amount = ({ cents }: Spent) => (cents / 100).toFixed(2);
const json = (body: unknown, status = 200) => Response.json(body, { status });

/** The keys that work: tests replace the first ones by those that are new. */
const META_TOKENS = new Set(['secret-token', 'the-new-token']);
const APPLOVIN_KEYS = new Set(['secret-key', 'secret-report-key', 'the-new-report-key']);
const META_JOB = '901';
const TIKTOK_MAX_DAYS = 30;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const metaError = (code: number, message: string) => json({ error: { code, message } }, 400);
const tiktokError = (code: number, message: string) => json({ code, message, data: {} });

/** Whether these are days, in their order, and at most so many. */
const isPeriod = (from: string | null, to: string | null, maxDays = Number.POSITIVE_INFINITY): boolean =>
  DAY.test(from ?? '') &&
  DAY.test(to ?? '') &&
  (from ?? '') <= (to ?? '') &&
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 86_400_000 < maxDays;

/**
 * The networks. They refuse what the real ones refuse: another method, a missing or wrong credential, fields that nobody asked for, periods that
 * are none or too long, pages that do not exist. See `checkRequest` for what is checked of every request.
 */
export class StandIn {
  ledger: Spent[] = [];
  /** In every answer with rows, whatever days it was asked for. */
  strangers: Spent[] = [];
  /** Answers in place of the next requests that the pattern matches. */
  failures: [pattern: RegExp, answer: () => Response][] = [];
  /** How often a report of Meta's is not ready yet. */
  notReady = 0;
  requests: string[] = [];

  readonly fetch = strictly(async (url: string, init: RequestInit): Promise<Response> => {
    const body = typeof init.body === 'string' ? init.body : '';
    const asked = `${url} ${decodeURIComponent(body)}`;
    this.requests.push(asked);
    const failing = this.failures.findIndex(([pattern]) => pattern.test(asked));
    const [failure] = failing < 0 ? [] : this.failures.splice(failing, 1);
    if (failure) return failure[1]();
    const { hostname, pathname, searchParams } = new URL(url);
    const request = { method: init.method ?? 'GET', headers: new Headers(init.headers), body };
    if (hostname === 'graph.facebook.com') return this.#meta(pathname, searchParams, request);
    if (hostname === 'business-api.tiktok.com') return this.#tiktok(pathname, searchParams, request);
    if (hostname === 'r.applovin.com') return this.#applovin(pathname, searchParams, request);
    if (hostname === 'oauth2.googleapis.com') return this.#googleToken(pathname, request);
    if (hostname === 'googleads.googleapis.com') return this.#google(pathname, request);
    if (hostname === 'costs.example.com') return this.#pull(searchParams, request);
    throw new Error(`nobody answers ${url}`);
  });

  #days(from: string | null, to: string | null): Spent[] {
    const within = this.ledger.filter(({ date }) => date >= (from ?? '') && date <= (to ?? ''));
    return [...within, ...this.strangers];
  }

  #period = { since: '', until: '' };
  #isMetaReady = false;

  #meta(path: string, query: URLSearchParams, { method, body }: Asked): Response {
    const form = new URLSearchParams(body);
    const token = (method === 'POST' ? form : query).get('access_token') ?? '';
    if (!META_TOKENS.has(token)) return metaError(190, 'Invalid OAuth access token');
    const [, item = '', edge = ''] = /^\/v\d+\.0\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    if (item === 'debug_token') {
      return query.get('input_token') === token
        ? json({ data: { expires_at: 1_780_000_000 } })
        : metaError(100, 'input_token is required');
    }
    if (/^act_\d+$/.test(item) && edge === '') {
      if (method !== 'GET' || query.get('fields') === null) return json({ id: item });
      return json({ currency: 'EUR', timezone_name: 'Europe/Berlin' });
    }
    if (/^act_\d+$/.test(item) && edge === 'insights') {
      if (method !== 'POST') return metaError(100, 'An answer at once is too large');
      const fields = form.get('fields')?.split(',') ?? [];
      if (form.get('level') !== 'ad' || form.get('time_increment') !== '1' || fields.length < 9)
        return metaError(100, 'Unsupported breakdown');
      this.#period = JSON.parse(form.get('time_range') ?? '{}');
      if (!isPeriod(this.#period.since, this.#period.until)) return metaError(100, 'Invalid time_range');
      this.#isMetaReady = false;
      return json({ report_run_id: META_JOB });
    }
    if (item !== META_JOB || method !== 'GET') return metaError(100, 'Unsupported request');
    if (edge === '') {
      this.#isMetaReady = this.notReady-- <= 0;
      return json({ async_status: this.#isMetaReady ? 'Job Completed' : 'Job Running' });
    }
    if (!this.#isMetaReady) return metaError(2601, 'The report is not ready');
    return this.#metaPage(query);
  }

  #metaPage(query: URLSearchParams): Response {
    if (Number(query.get('limit')) > 500) return metaError(100, 'limit is too high');
    const rows = this.#days(this.#period.since, this.#period.until);
    const start = Number(query.get('after') ?? 0);
    // A cursor is one that an earlier page gave.
    if (start % PAGE !== 0 || start > rows.length) return metaError(100, 'Invalid cursor');
    const data = rows.slice(start, start + PAGE).map((row) => ({
      ...{ date_start: row.date, account_currency: 'EUR', country: row.country, spend: amount(row) },
      ...{ campaign_id: idOf(row.campaign), campaign_name: row.campaign },
      ...{ adset_id: idOf(row.adset), adset_name: row.adset, ad_id: idOf(row.ad), ad_name: row.ad },
      ...{ impressions: '10', clicks: '1' },
    }));
    const after = String(start + PAGE);
    const next = start + PAGE < rows.length ? { next: 'https://graph.facebook.com/next' } : {};
    return json({ data, paging: { cursors: { before: '', after }, ...next } });
  }

  #tiktok(path: string, query: URLSearchParams, { method, headers }: Asked): Response {
    if (method !== 'GET') return json({ code: 40001, message: 'Method not allowed', data: {} }, 405);
    if (headers.get('Access-Token') !== 'secret-token')
      return tiktokError(40105, 'Access token is incorrect');
    const ok = (data: object) => json({ code: 0, message: 'OK', data });
    const advertisers: unknown = JSON.parse(query.get('advertiser_ids') ?? 'null');
    if (!Array.isArray(advertisers) || advertisers.join() !== '71')
      return tiktokError(40001, 'advertiser_ids: no permission');
    if (path.endsWith('/advertiser/info/')) {
      return ok({ list: [{ currency: 'JPY', timezone: 'Asia/Tokyo' }] });
    }
    if (!path.endsWith('/report/integrated/get/')) return json({ code: 40002, message: 'No such path' }, 404);
    const [from, to] = [query.get('start_date'), query.get('end_date')];
    if (!isPeriod(from, to, TIKTOK_MAX_DAYS)) return tiktokError(40002, 'The period is longer than 30 days');
    const byAd = Map.groupBy(this.#days(from, to), (row) =>
      JSON.stringify([row.date, row.campaign, row.adset, row.ad]),
    );
    const list = [...byAd.values()].map((rows) => {
      const [row] = rows as [Spent];
      return {
        dimensions: { ad_id: idOf(row.ad), stat_time_day: `${row.date} 00:00:00` },
        metrics: {
          ...{ campaign_id: idOf(row.campaign), campaign_name: row.campaign },
          ...{ adgroup_id: idOf(row.adset), adgroup_name: row.adset, ad_name: row.ad },
          spend: (rows.reduce((sum, { cents }) => sum + cents, 0) / 100).toFixed(2),
          impressions: String(10 * rows.length),
          clicks: '1',
        },
      };
    });
    const [page, size] = [Number(query.get('page')), Number(query.get('page_size'))];
    const total_page = Math.ceil(list.length / PAGE);
    if (!(size >= 1 && size <= 1_000)) return tiktokError(40002, 'page_size: from 1 to 1000');
    if (!(page >= 1 && page <= Math.max(1, total_page))) return tiktokError(40002, 'page: out of range');
    return ok({ list: list.slice((page - 1) * PAGE, page * PAGE), page_info: { page, total_page } });
  }

  #applovin(path: string, query: URLSearchParams, { method }: Asked): Response {
    if (method !== 'GET' || path !== '/report') return new Response('Not found', { status: 404 });
    if (!APPLOVIN_KEYS.has(query.get('api_key') ?? ''))
      return new Response('Invalid api_key', { status: 401 });
    const [from, to] = [query.get('start'), query.get('end')];
    const isAdvertiser = query.get('report_type') === 'advertiser' && query.get('format') === 'json';
    if (!isAdvertiser || !isPeriod(from, to, 45)) return new Response('Bad request', { status: 400 });
    const columns = new Set(query.get('columns')?.split(','));
    const results = this.#days(from, to).map((row) => {
      const all = {
        ...{ day: row.date, campaign: row.campaign, campaign_id_external: idOf(row.campaign) },
        ...{ creative_set: row.adset, creative_set_id: idOf(row.adset), ad: row.ad, ad_id: idOf(row.ad) },
        ...{ country: row.country.toLowerCase(), platform: 'android', cost: amount(row) },
        ...{ impressions: '10', clicks: '1' },
      };
      return Object.fromEntries(Object.entries(all).filter(([name]) => columns.has(name)));
    });
    return json({ code: 200, results, count: results.length });
  }

  #googleToken(path: string, { method, body }: Asked): Response {
    const { developer_token: _, ...secrets } = CONNECTORS.google.credentials;
    const expected = { grant_type: 'refresh_token', ...secrets };
    const sent = Object.fromEntries(new URLSearchParams(body));
    const isRight = Object.entries(expected).every(([name, value]) => sent[name] === value);
    if (method !== 'POST' || path !== '/token' || !isRight)
      return json({ error: 'invalid_grant', error_description: 'Bad Request' }, 400);
    return json({ access_token: 'ya29', expires_in: 3599 });
  }

  #google(path: string, { method, headers, body }: Asked): Response {
    const isPath = /^\/v\d+\/customers\/1234567890\/googleAds:searchStream$/.test(path);
    if (method !== 'POST' || !isPath) return json([{ error: { code: 404, message: 'Not found' } }], 404);
    const isAllowed =
      headers.get('Authorization') === 'Bearer ya29' && headers.get('developer-token') === 'd';
    if (!isAllowed) return json([{ error: { code: 401, message: 'UNAUTHENTICATED' } }], 401);
    const query: string = JSON.parse(body).query;
    if (query.endsWith('FROM customer')) {
      return json([{ results: [{ customer: { currencyCode: 'GBP', timeZone: 'Europe/London' } }] }]);
    }
    const [from = '', to = ''] = query.match(/\d{4}-\d{2}-\d{2}/g) ?? [];
    if (!isPeriod(from, to)) return json([{ error: { code: 400, message: 'INVALID_ARGUMENT' } }], 400);
    if (query.includes('PERFORMANCE_MAX')) return json([]);
    const results = this.#days(from, to).map((row) => ({
      campaign: { id: idOf(row.campaign), name: row.campaign },
      adGroup: { id: idOf(row.adset), name: row.adset },
      segments: { date: row.date },
      metrics: { costMicros: String(row.cents * 10_000), impressions: '10', clicks: '1' },
    }));
    const chunks = Array.from({ length: Math.ceil(results.length / PAGE) }, (_, chunk) => ({
      results: results.slice(chunk * PAGE, (chunk + 1) * PAGE),
    }));
    return json(chunks);
  }

  #pull(query: URLSearchParams, { method, headers }: Asked): Response {
    if (method !== 'GET') return new Response(null, { status: 405 });
    if (headers.get('Authorization') !== 'Bearer secret-bearer') return new Response(null, { status: 401 });
    const [from, to] = [query.get('from'), query.get('to')];
    if (!isPeriod(from, to)) return new Response('from and to are days', { status: 400 });
    const lines = this.#days(from, to).map((row) =>
      [row.date, row.campaign, row.adset, row.ad, row.country, 'usd', amount(row)].join(','),
    );
    return new Response(['date,campaign,adset,creative,country,currency,amount', ...lines].join('\n'));
  }
}

type Asked = { method: string; headers: Headers; body: string };

export const noSleep = () => Promise.resolve();

export async function connectorRow(id: string) {
  const [row] = await database(env.DB).select().from(table).where(eq(table.id, id));
  if (!row) throw new Error('no such connector');
  return row;
}

/** Adds a connector by the API, and returns its id. */
export async function addConnector(
  worker: TestWorker,
  tenant: Tenant,
  kind: Network,
  more: Record<string, string> = {},
): Promise<string> {
  const { settings, credentials } = CONNECTORS[kind];
  const answer = await worker.team(tenant, '/v1/connectors', {
    method: 'POST',
    body: { application_id: tenant.application.id, kind, settings: { ...settings, ...more }, credentials },
  });
  const { id, message } = await answer.json<{ id: string; message?: string }>();
  if (answer.status !== 201) throw new Error(message);
  return id;
}
