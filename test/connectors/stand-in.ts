import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { database, connectors as table } from '#db';
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

const PAGE = 20;
/** Beyond 2^53. */
export const idOf = (name: string): string =>
  `${23854855793500701n + BigInt(name.length * 1000 + (name.codePointAt(0) ?? 0))}`;

const amount = ({ cents }: Spent) => (cents / 100).toFixed(2);
const json = (body: unknown, status = 200) => Response.json(body, { status });

export class StandIn {
  ledger: Spent[] = [];
  /** Answers in place of the next requests that the pattern matches. */
  failures: [pattern: RegExp, answer: () => Response][] = [];
  /** How often a report of Meta's is not ready yet. */
  notReady = 0;
  requests: string[] = [];

  readonly fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const body = typeof init.body === 'string' ? init.body : '';
    const asked = `${url} ${decodeURIComponent(body)}`;
    this.requests.push(asked);
    const failing = this.failures.findIndex(([pattern]) => pattern.test(asked));
    const [failure] = failing < 0 ? [] : this.failures.splice(failing, 1);
    if (failure) return failure[1]();
    const { hostname, pathname, searchParams } = new URL(url);
    if (hostname === 'graph.facebook.com') return this.#meta(pathname, searchParams, body);
    if (hostname === 'business-api.tiktok.com') return this.#tiktok(pathname, searchParams);
    if (hostname === 'r.applovin.com') return this.#applovin(searchParams);
    if (hostname === 'oauth2.googleapis.com') return json({ access_token: 'ya29', expires_in: 3599 });
    if (hostname === 'googleads.googleapis.com') return this.#google(JSON.parse(body).query);
    const rows = this.#days(searchParams.get('from'), searchParams.get('to'));
    const lines = rows.map((row) =>
      [row.date, row.campaign, row.adset, row.ad, row.country, 'usd', amount(row)].join(','),
    );
    return new Response(['date,campaign,adset,creative,country,currency,amount', ...lines].join('\n'));
  };

  #days(from: string | null, to: string | null): Spent[] {
    return this.ledger.filter(({ date }) => date >= (from ?? '') && date <= (to ?? ''));
  }

  #period = { since: '', until: '' };

  #meta(path: string, query: URLSearchParams, body: string): Response {
    if (path.endsWith('/debug_token')) return json({ data: { expires_at: 1_780_000_000 } });
    if (path.endsWith('/act_17')) return json({ currency: 'EUR', timezone_name: 'Europe/Berlin' });
    if (path.endsWith('/act_17/insights')) {
      this.#period = JSON.parse(new URLSearchParams(body).get('time_range') ?? '');
      return json({ report_run_id: '901' });
    }
    if (path.endsWith('/901')) {
      return json({ async_status: this.notReady-- > 0 ? 'Job Running' : 'Job Completed' });
    }
    const rows = this.#days(this.#period.since, this.#period.until);
    const start = Number(query.get('after') ?? 0);
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

  #tiktok(path: string, query: URLSearchParams): Response {
    const ok = (data: object) => json({ code: 0, message: 'OK', data });
    if (path.includes('/advertiser/info')) return ok({ list: [{ currency: 'JPY', timezone: 'Asia/Tokyo' }] });
    const byAd = Map.groupBy(this.#days(query.get('start_date'), query.get('end_date')), (row) =>
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
    const page = Number(query.get('page'));
    const total_page = Math.ceil(list.length / PAGE);
    return ok({ list: list.slice((page - 1) * PAGE, page * PAGE), page_info: { page, total_page } });
  }

  #applovin(query: URLSearchParams): Response {
    const results = this.#days(query.get('start'), query.get('end')).map((row) => ({
      ...{ day: row.date, campaign: row.campaign, campaign_id_external: idOf(row.campaign) },
      ...{ creative_set: row.adset, creative_set_id: idOf(row.adset), ad: row.ad, ad_id: idOf(row.ad) },
      ...{ country: row.country.toLowerCase(), platform: 'android', cost: amount(row) },
      ...{ impressions: '10', clicks: '1' },
    }));
    return json({ code: 200, results, count: results.length });
  }

  #google(query: string): Response {
    if (query.endsWith('FROM customer')) {
      return json([{ results: [{ customer: { currencyCode: 'GBP', timeZone: 'Europe/London' } }] }]);
    }
    if (query.includes('PERFORMANCE_MAX')) return json([]);
    const [from = '', to = ''] = query.match(/\d{4}-\d{2}-\d{2}/g) ?? [];
    const results = this.#days(from, to).map((row) => ({
      campaign: { id: idOf(row.campaign), name: row.campaign },
      adGroup: { id: idOf(row.adset), name: row.adset },
      segments: { date: row.date },
      metrics: { costMicros: String(row.cents * 10_000), impressions: '10', clicks: '1' },
    }));
    return json([{ results: results.slice(0, PAGE) }, { results: results.slice(PAGE) }]);
  }
}

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
