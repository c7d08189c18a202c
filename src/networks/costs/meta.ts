import * as z from 'zod';
import { requiredText } from '#lib/input/fields';
import { META_API, PASSING_CODES } from '../meta-api.ts';
import {
  amountField,
  askPatiently,
  type CostAnswer,
  type CostReport,
  type CostRequest,
  CostRows,
  countField,
  countryField,
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

const WHO = 'Meta';
const PAGE_ROWS = 500;
/** The first reports are ready after some seconds, and some only after half an hour. */
const POLLS_SECONDS = [3, 5, 10];
const WAIT_SECONDS = 60;
const FIELDS =
  'campaign_id,campaign_name,adset_id,adset_name,ad_id,ad_name,spend,impressions,clicks,account_currency';

const TOKEN_FAULT = 190;

const Failure = z.object({ error: z.object({ code: z.number(), message: z.string().default('') }) });
const Account = z.object({ currency: currencyField, timezone_name: z.string().nullish() });
const Started = z.object({ report_run_id: idField });
const Job = z.object({ async_status: z.string() });
const Debugged = z.object({ data: z.object({ expires_at: z.number().int().nullish() }) });
const Page = z.object({
  data: z.array(
    z.object({
      date_start: dayField,
      campaign_id: idField,
      campaign_name: nameField,
      adset_id: idField,
      adset_name: nameField,
      ad_id: idField,
      ad_name: nameField,
      country: countryField,
      spend: amountField,
      impressions: countField,
      clicks: countField,
      account_currency: currencyField.optional(),
    }),
  ),
  paging: z
    .object({ next: z.string().optional(), cursors: z.object({ after: z.string() }).optional() })
    .optional(),
});

const failureOf = (answer: CostAnswer) => Failure.safeParse(jsonOf(answer)).data?.error;

function* ask(request: CostRequest): Generator<CostRequest, unknown, CostAnswer> {
  const answer = yield* askPatiently(WHO, request, (one) => {
    const failure = failureOf(one);
    return one.status === 429 || (failure !== undefined && PASSING_CODES.has(failure.code));
  });
  const failure = failureOf(answer);
  if (failure?.code === TOKEN_FAULT) {
    throw new ReportFault(`${WHO} does not accept the access token: ${shortened(failure.message)}`);
  }
  if (failure) throw new ReportFault(`${WHO} answered error ${failure.code}: ${shortened(failure.message)}`);
  if (answer.status !== 200) throw refusal(WHO, answer);
  return jsonOf(answer);
}

/** Campaigns, ad sets and ads by day and country, as a report that Meta prepares. */
export const meta: CostReport = {
  label: 'Meta Ads',
  settings: z.object({
    account_id: requiredText(32)
      .transform((id) => id.replace(/^act_/, ''))
      .refine((id) => /^\d+$/.test(id), 'must be the number of an ad account'),
  }),
  credentials: z.object({ access_token: requiredText(1024) }),
  labels: { account_id: 'Ad account ID', access_token: 'Access token' },
  notes: [
    'The token needs the permission `ads_read`; that of a system user does not expire.',
    'Spend is by country. Meta counts it in the time zone and currency of the ad account.',
  ],
  unverified: ['Nobody has run it against a live account.'],
  sources: [
    'https://developers.facebook.com/docs/marketing-api/insights/best-practices/',
    'https://developers.facebook.com/docs/marketing-api/reference/adgroup/insights/',
  ],
  maxDaysBack: 1_000,
  *read({ settings, credentials, from, to, state }) {
    const access_token = credentials.access_token ?? '';
    const get = (path: string, parameters: Record<string, string>, afterSeconds = 0): CostRequest => ({
      url: `${META_API}/${path}?${new URLSearchParams({ ...parameters, access_token })}`,
      afterSeconds,
    });
    const account = `act_${settings.account_id}`;
    const known = readAs(WHO, Account, yield* ask(get(account, { fields: 'currency,timezone_name' })));
    let job = state?.job;
    if (job === undefined) {
      const started = yield* ask({
        ...{ url: `${META_API}/${account}/insights`, method: 'POST' },
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          ...{ level: 'ad', time_increment: '1', breakdowns: 'country', fields: FIELDS },
          time_range: JSON.stringify({ since: from, until: to }),
          access_token,
        }).toString(),
      });
      job = readAs(WHO, Started, started).report_run_id;
    }
    let isReady = false;
    for (const wait of state === null ? POLLS_SECONDS : [0]) {
      const { async_status } = readAs(WHO, Job, yield* ask(get(job, {}, wait)));
      isReady = async_status === 'Job Completed';
      if (isReady) break;
      if (/Failed|Skipped/.test(async_status)) {
        throw new ReportFault(`${WHO} did not make the report: ${shortened(async_status)}`);
      }
    }
    if (!isReady) return { waitSeconds: WAIT_SECONDS, state: { job } };
    const spend = new CostRows(settings);
    for (let after = ''; ; ) {
      const cursor: Record<string, string> = after === '' ? {} : { after };
      const page = readAs(
        WHO,
        Page,
        yield* ask(get(`${job}/insights`, { limit: String(PAGE_ROWS), ...cursor })),
      );
      for (const row of page.data) {
        spend.add({
          network: 'meta',
          date: row.date_start,
          campaign: { id: row.campaign_id, name: row.campaign_name },
          adset: { id: row.adset_id, name: row.adset_name },
          ad: { id: row.ad_id, name: row.ad_name },
          country: row.country,
          os: '',
          currency: row.account_currency ?? known.currency,
          nanos: row.spend,
          impressions: row.impressions,
          clicks: row.clicks,
        });
      }
      const next = page.paging?.next === undefined ? undefined : page.paging.cursors?.after;
      if (next === undefined || next === after) break;
      after = next;
    }
    // Tells only when the token ends, so nothing of it is a failure.
    const debugged = Debugged.safeParse(jsonOf(yield get('debug_token', { input_token: access_token })));
    const seconds = debugged.data?.data.expires_at ?? 0;
    return {
      rows: spend.rows,
      account: { currency: known.currency, timezone: known.timezone_name ?? null },
      expiresAt: seconds > 0 ? seconds * 1000 : null,
    };
  },
};
