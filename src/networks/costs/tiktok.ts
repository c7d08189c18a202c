import * as z from 'zod';
import { requiredText } from '#lib/input/fields';
import {
  amountField,
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
  refusal,
  shortened,
} from './cost-report.ts';

const WHO = 'TikTok';
const API = 'https://business-api.tiktok.com/open_api/v1.3';
const PAGE_ROWS = 1_000;
const REPORTED_METRICS = [
  ...['campaign_id', 'campaign_name', 'adgroup_id', 'adgroup_name', 'ad_name'],
  ...['spend', 'impressions', 'clicks'],
];

/** Errors have HTTP status 200 too, and a code. */
const Envelope = z.object({ code: z.number(), message: z.string().default(''), data: z.unknown() });
const THROTTLED = new Set([40100, 40133, 61000]);
const TOKEN_FAULTS = new Set([40102, 40104, 40105, 40110]);

const Info = z.object({
  list: z.array(z.object({ currency: currencyField, timezone: z.string().nullish() })).min(1),
});
const Page = z.object({
  list: z.array(
    z.object({
      dimensions: z.object({ ad_id: idField, stat_time_day: dayField }),
      metrics: z.object({
        campaign_id: idField,
        campaign_name: nameField,
        adgroup_id: idField,
        adgroup_name: nameField,
        ad_name: nameField,
        spend: amountField,
        impressions: countField,
        clicks: countField,
      }),
    }),
  ),
  page_info: z.object({ total_page: z.number().int().min(0) }),
});

const envelopeOf = (answer: CostAnswer) => Envelope.safeParse(jsonOf(answer)).data;

function isThrottled(answer: CostAnswer): boolean {
  const envelope = envelopeOf(answer);
  if (answer.status === 429) return true;
  return envelope !== undefined && (THROTTLED.has(envelope.code) || /QPS limit/i.test(envelope.message));
}

function* ask(request: CostRequest): Generator<CostRequest, unknown, CostAnswer> {
  const answer = yield* askPatiently(WHO, request, isThrottled);
  const envelope = envelopeOf(answer);
  if (!envelope) {
    if (answer.status !== 200) throw refusal(WHO, answer);
    return readAs(WHO, Envelope, null);
  }
  const { code, message, data } = envelope;
  if (code === 0) return data;
  const said = shortened(message);
  if (TOKEN_FAULTS.has(code)) throw new ReportFault(`${WHO} does not accept the access token: ${said}`);
  throw new ReportFault(`${WHO} answered error ${code}: ${said}`);
}

/** Campaigns, ad groups and ads by day. */
export const tiktok: CostReport = {
  label: 'TikTok Ads',
  settings: z.object({
    advertiser_id: requiredText(32).refine((id) => /^\d+$/.test(id), 'must be the number of an advertiser'),
  }),
  credentials: z.object({ access_token: requiredText(1024) }),
  labels: { advertiser_id: 'Advertiser ID', access_token: 'Access token' },
  notes: [
    'The access token of an app of TikTok API for Business, with the permission for reporting. It does not expire.',
    'Spend is not by country.',
  ],
  unverified: [
    'Nobody has run it against a live account.',
    'That the names of campaigns, ad groups and ads are asked for as metrics is from public clients.',
  ],
  sources: ['https://business-api.tiktok.com/portal/docs?id=1740302848100353'],
  maxDaysBack: 365,
  *read({ settings, credentials, from, to }) {
    const advertiser = settings.advertiser_id ?? '';
    const headers = { 'Access-Token': credentials.access_token ?? '' };
    const get = (path: string, parameters: Record<string, string>): CostRequest => ({
      url: `${API}/${path}/?${new URLSearchParams(parameters)}`,
      headers,
    });
    const advertiser_ids = JSON.stringify([advertiser]);
    const { list } = readAs(WHO, Info, yield* ask(get('advertiser/info', { advertiser_ids })));
    const [account] = list;
    if (!account) throw new ReportFault(`${WHO} does not know advertiser ${advertiser}`);
    const spend = new CostRows(settings);
    for (let page = 1, pages = 1; page <= pages; page++) {
      const read = yield* ask(
        get('report/integrated/get', {
          ...{ advertiser_ids, report_type: 'BASIC', data_level: 'AUCTION_AD' },
          dimensions: JSON.stringify(['ad_id', 'stat_time_day']),
          metrics: JSON.stringify(REPORTED_METRICS),
          ...{ start_date: from, end_date: to, page: String(page), page_size: String(PAGE_ROWS) },
        }),
      );
      const { list, page_info } = readAs(WHO, Page, read);
      pages = page_info.total_page;
      for (const { dimensions, metrics } of list) {
        spend.add({
          network: 'tiktok',
          date: dimensions.stat_time_day,
          campaign: { id: metrics.campaign_id, name: metrics.campaign_name },
          adset: { id: metrics.adgroup_id, name: metrics.adgroup_name },
          ad: { id: dimensions.ad_id, name: metrics.ad_name },
          ...{ country: '', os: '', currency: account.currency },
          nanos: metrics.spend,
          impressions: metrics.impressions,
          clicks: metrics.clicks,
        });
      }
    }
    const { currency, timezone = null } = account;
    return { rows: spend.rows, account: { currency, timezone }, expiresAt: null };
  },
};
