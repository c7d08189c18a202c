import * as z from 'zod';
import { requiredText } from '#lib/input/fields';
import {
  amountField,
  askPatiently,
  type CostReport,
  CostRows,
  countField,
  countryField,
  dayField,
  idField,
  nameField,
  readingRows,
  refusal,
} from './cost-report.ts';

const WHO = 'AppLovin';
const COLUMNS = [
  ...['day', 'campaign', 'campaign_id_external', 'creative_set', 'creative_set_id', 'ad', 'ad_id'],
  ...['country', 'platform', 'cost', 'impressions', 'clicks'],
];

const Row = z.object({
  day: dayField,
  campaign: nameField,
  campaign_id_external: idField,
  creative_set: nameField,
  creative_set_id: idField.nullish(),
  ad: nameField,
  ad_id: idField.nullish(),
  country: countryField,
  platform: nameField,
  cost: amountField,
  impressions: countField,
  clicks: countField,
});

const PLATFORMS: Readonly<Record<string, string>> = { android: 'android', ios: 'ios' };

/** Campaigns, creative sets and ads by day, country and platform. */
export const applovin: CostReport = {
  label: 'AppLovin',
  settings: z.object({ account_name: requiredText(64) }),
  credentials: z.object({ report_key: requiredText(512) }),
  labels: { account_name: 'Name of the account, for yourself', report_key: 'Report key' },
  notes: [
    'The report key is under Account → Keys. It does not expire.',
    'Spend is in US dollars and UTC, by country and platform. Creative sets take the place of ad sets.',
    'AppLovin adds rows to past days, and answers for the last 45 days.',
  ],
  unverified: ['Nobody has run it against a live account.'],
  sources: ['https://developers.applovin.com/en/app-discovery/api/reporting-api'],
  maxDaysBack: 44,
  *read({ settings, credentials, from, to }) {
    const query = new URLSearchParams({
      api_key: credentials.report_key ?? '',
      ...{ report_type: 'advertiser', format: 'json', columns: COLUMNS.join(','), not_zero: '1' },
      ...{ start: from, end: to },
    });
    const url = `https://r.applovin.com/report?${query}`;
    const spend = new CostRows(settings);
    const { request, end } = readingRows(
      WHO,
      { url },
      {
        ...{ key: 'results', row: Row, into: spend },
        take: (row) => ({
          network: 'applovin',
          date: row.day,
          campaign: { id: row.campaign_id_external, name: row.campaign },
          adset: row.creative_set_id ? { id: row.creative_set_id, name: row.creative_set } : null,
          ad: row.ad_id ? { id: row.ad_id, name: row.ad } : null,
          country: row.country,
          os: PLATFORMS[row.platform.toLowerCase()] ?? '',
          currency: 'usd',
          nanos: row.cost,
          impressions: row.impressions,
          clicks: row.clicks,
        }),
      },
    );
    const answer = yield* askPatiently(WHO, request, ({ status }) => status === 429);
    if (answer.status !== 200) throw refusal(WHO, answer);
    end();
    return { rows: spend.rows, account: { currency: 'usd', timezone: 'UTC' }, expiresAt: null };
  },
};
