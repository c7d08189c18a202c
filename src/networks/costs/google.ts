import * as z from 'zod';
import { optionalText, requiredText } from '#lib/input/fields';
import {
  askPatiently,
  type CostAnswer,
  type CostReport,
  type CostRequest,
  CostRows,
  countField,
  currencyField,
  dayField,
  idField,
  jsonOf,
  nameField,
  ReportFault,
  readAs,
  readingRows,
  refusal,
  shortened,
} from './cost-report.ts';

const WHO = 'Google Ads';
/** A version is turned off about a year after its release. */
const API = 'https://googleads.googleapis.com/v25';
const TOKENS = 'https://oauth2.googleapis.com/token';
const NANOS_PER_MICRO = 1_000n;

const Token = z.object({ access_token: z.string().min(1) });
const TokenFailure = z.object({ error: z.string(), error_description: z.string().default('') });
const Failure = z.object({
  error: z.object({ status: z.string().default(''), message: z.string().default('') }),
});

const Customers = z.array(
  z.object({
    results: z
      .array(z.object({ customer: z.object({ currencyCode: currencyField, timeZone: z.string() }) }))
      .default([]),
  }),
);
const Spend = z.object({
  campaign: z.object({ id: idField, name: nameField }),
  adGroup: z.object({ id: idField, name: nameField }).optional(),
  segments: z.object({ date: dayField }),
  metrics: z.object({
    // Absent if 0. A number of 64 bits is text in JSON.
    costMicros: z.union([z.int().min(0), z.string().regex(/^\d{1,18}$/)]).default(0),
    impressions: countField,
    clicks: countField,
  }),
});

/** The first answer of a stream that failed is a list, too. */
function failureOf(answer: CostAnswer) {
  const json = jsonOf(answer);
  return Failure.safeParse(Array.isArray(json) ? json[0] : json).data?.error;
}

const isThrottled = (answer: CostAnswer) =>
  answer.status === 429 || failureOf(answer)?.status === 'RESOURCE_EXHAUSTED';

function* ask(request: CostRequest): Generator<CostRequest, unknown, CostAnswer> {
  const answer = yield* askPatiently(WHO, request, isThrottled);
  const failure = failureOf(answer);
  if (failure) throw new ReportFault(`${WHO} answered ${failure.status}: ${shortened(failure.message)}`);
  if (answer.status !== 200) throw refusal(WHO, answer);
  return jsonOf(answer);
}

function* signIn(credentials: Readonly<Record<string, string>>): Generator<CostRequest, string, CostAnswer> {
  const { client_id = '', client_secret = '', refresh_token = '' } = credentials;
  const answer = yield {
    url: TOKENS,
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      ...{ grant_type: 'refresh_token', client_id, client_secret, refresh_token },
    }).toString(),
  };
  const failure = TokenFailure.safeParse(jsonOf(answer)).data;
  if (failure) {
    const said = shortened(`${failure.error} ${failure.error_description}`);
    throw new ReportFault(`Google does not accept the refresh token: ${said}`);
  }
  if (answer.status !== 200) throw refusal('Google', answer);
  return readAs('Google', Token, jsonOf(answer)).access_token;
}

const digits = (id: string) => id.replaceAll('-', '');
const NOT_A_CUSTOMER = 'must be a customer ID such as 123-456-7890';
const isCustomer = (id: string) => /^\d{10}$/.test(id);

/** Campaigns and ad groups by day. */
export const google: CostReport = {
  label: 'Google Ads',
  settings: z.object({
    customer_id: requiredText(16).transform(digits).refine(isCustomer, NOT_A_CUSTOMER),
    login_customer_id: optionalText(16)
      .transform((id) => digits(id ?? ''))
      .refine((id) => id === '' || isCustomer(id), NOT_A_CUSTOMER),
  }),
  credentials: z.object({
    developer_token: requiredText(128),
    client_id: requiredText(256),
    client_secret: requiredText(256),
    refresh_token: requiredText(1024),
  }),
  labels: {
    customer_id: 'Customer ID',
    login_customer_id: 'Customer ID of the manager account, if you sign in by one',
    developer_token: 'Developer token',
    client_id: 'OAuth client ID',
    client_secret: 'OAuth client secret',
    refresh_token: 'Refresh token',
  },
  notes: [
    'The developer token is in the API Center of a manager account. The refresh token is for the scope `https://www.googleapis.com/auth/adwords`; that of an OAuth app in testing ends after 7 days.',
    'Spend is by campaign and ad group, not by ad or country. Performance Max campaigns have no ad groups.',
    'Google counts days in the time zone of the account, in its currency.',
  ],
  unverified: ['Nobody has run it against a live account.'],
  sources: [
    'https://developers.google.com/google-ads/api/rest/common/search',
    'https://developers.google.com/identity/protocols/oauth2/web-server#offline',
  ],
  maxDaysBack: 1_000,
  *read({ settings, credentials, from, to }) {
    const token = yield* signIn(credentials);
    const manager = settings.login_customer_id ?? '';
    const query = (text: string): CostRequest => ({
      url: `${API}/customers/${settings.customer_id}/googleAds:searchStream`,
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${token}`,
        'developer-token': credentials.developer_token ?? '',
        ...(manager === '' ? {} : { 'login-customer-id': manager }),
      },
      body: JSON.stringify({ query: text }),
    });
    const customers = yield* ask(query('SELECT customer.currency_code, customer.time_zone FROM customer'));
    const account = readAs(WHO, Customers, customers).flatMap(({ results }) => results)[0]?.customer;
    if (!account) throw new ReportFault(`${WHO} does not know customer ${settings.customer_id}`);
    const metrics = 'segments.date, metrics.cost_micros, metrics.impressions, metrics.clicks';
    const period = `segments.date BETWEEN '${from}' AND '${to}'`;
    const queries = [
      `SELECT campaign.id, campaign.name, ad_group.id, ad_group.name, ${metrics} FROM ad_group WHERE ${period}`,
      `SELECT campaign.id, campaign.name, ${metrics} FROM campaign WHERE ${period} AND campaign.advertising_channel_type = 'PERFORMANCE_MAX'`,
    ];
    const spend = new CostRows(settings);
    for (const text of queries) {
      const { request, end } = readingRows(WHO, query(text), {
        ...{ key: 'results', isNested: true, refused: 'error', row: Spend, into: spend },
        take: ({ campaign, adGroup, segments, metrics }) => ({
          ...{ network: 'google', date: segments.date, campaign, adset: adGroup ?? null, ad: null },
          ...{ country: '', os: '', currency: account.currencyCode },
          nanos: BigInt(metrics.costMicros) * NANOS_PER_MICRO,
          impressions: metrics.impressions ?? 0,
          clicks: metrics.clicks ?? 0,
        }),
      });
      yield* ask(request);
      end();
    }
    return {
      rows: spend.rows,
      account: { currency: account.currencyCode, timezone: account.timeZone },
      expiresAt: null,
    };
  },
};
