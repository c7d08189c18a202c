import type { CostFormatDefinition } from './definition.ts';

// Networks whose exports are in English. LinkedIn's headings are those of Campaign Manager's report on the performance of ads: Start Date (in UTC),
// Account Name, Campaign Name, Creative Name, Ad Headline, Total Spent, Impressions, Clicks.

export const applovin = {
  label: 'AppLovin',
  checkedAgainst: 'the fields of its API; not verified against a real file',
  network: 'applovin',
  columns: {
    date: ['day'],
    campaign: ['campaign'],
    adset: ['ad group', 'creative set'],
    creative: ['ad', 'creative'],
    os: ['platform'],
    currency: ['currency'],
    amount: ['cost', 'spend'],
    impressions: ['impressions'],
    clicks: ['clicks'],
  },
} as const satisfies CostFormatDefinition;

export const unity = {
  label: 'Unity Ads',
  checkedAgainst: 'the fields of its API; not verified against a real file',
  network: 'unity_ads',
  columns: {
    date: ['timestamp', 'date'],
    campaign: ['campaign name'],
    adset: ['ad set name', 'target game name'],
    creative: ['creative pack name'],
    os: ['platform'],
    currency: ['currency'],
    amount: ['spend', 'cost'],
    impressions: ['views', 'starts', 'impressions'],
    clicks: ['clicks'],
  },
} as const satisfies CostFormatDefinition;

export const apple = {
  label: 'Apple Ads',
  checkedAgainst: 'an export',
  network: 'apple_ads',
  isTitled: true,
  marks: ['taps', 'installs (tap-through)', 'country or region', 'ttr', 'avg cpt', 'tap installs'],
  columns: {
    date: ['date', 'day'],
    campaign: ['campaign name', 'campaign'],
    adset: ['ad group name', 'ad group'],
    creative: ['ad name', 'creative set name'],
    country: ['country or region', 'countries or regions'],
    currency: ['currency'],
    amount: ['spend', 'local spend'],
    impressions: ['impressions'],
    clicks: ['taps'],
  },
} as const satisfies CostFormatDefinition;

export const snap = {
  label: 'Snap',
  checkedAgainst:
    'a [public importer](https://github.com/nantonelli-web/AISCAN/blob/main/src/lib/perf/snapchat-parser.ts); not verified against a real file',
  network: 'snap',
  marks: [
    'swipe ups',
    'swipes',
    'paid impressions',
    'ad squad name',
    'impressions paid',
    'paid ecpm',
    'ecpsu',
  ],
  columns: {
    date: ['date', 'day'],
    start: ['start time', 'start date', 'date start'],
    end: ['end time', 'end date', 'date end'],
    campaign: ['campaign name', 'campaign'],
    adset: ['ad set name', 'ad squad name', 'ad set', 'ad squad'],
    creative: ['ad name', 'ad'],
    currency: ['currency'],
    amount: ['amount spent', 'spend'],
    impressions: ['paid impressions', 'impressions paid', 'impressions', 'impressions total'],
    clicks: ['swipe ups', 'swipes', 'clicks', 'total clicks'],
  },
} as const satisfies CostFormatDefinition;

export const reddit = {
  label: 'Reddit Ads',
  checkedAgainst:
    '[notes on an import](https://github.com/genetsen/looker_personal/blob/main/Reddit/implementation_plan.md): date, campaign and amount; not verified against a real file',
  network: 'reddit',
  marks: ['ecpm', 'community', 'community name', 'post id', 'comment upvotes', 'upvotes'],
  columns: {
    date: ['date', 'day'],
    campaign: ['campaign name', 'campaign'],
    adset: ['ad group name', 'ad group'],
    creative: ['ad name', 'ad'],
    currency: ['currency'],
    amount: ['amount spent', 'spend'],
    impressions: ['impressions'],
    clicks: ['clicks'],
  },
} as const satisfies CostFormatDefinition;

export const linkedin = {
  label: 'LinkedIn Ads',
  checkedAgainst: 'a public importer; not verified against a real file',
  network: 'linkedin',
  isTitled: true,
  marks: ['campaign group name', 'total spent', 'start date (in utc)', 'clicks to landing page'],
  columns: {
    date: ['start date (in utc)', 'date', 'day'],
    // Its campaign groups are what campaigns are elsewhere.
    campaign: ['campaign group name', 'campaign name'],
    adset: ['campaign name'],
    creative: ['ad name', 'creative name', 'ad headline'],
    currency: ['currency'],
    amount: ['total spent', 'spend'],
    impressions: ['impressions'],
    clicks: ['clicks'],
  },
} as const satisfies CostFormatDefinition;

export const mintegral = {
  label: 'Mintegral',
  checkedAgainst:
    'the [report of its API](https://helpcenter.mintegral.com/en/docs/advanced-ad-delivery-report); not verified against a real file',
  network: 'mintegral',
  marks: ['offer name', 'offer id', 'offer uuid', 'campaign package', 'package name'],
  columns: {
    date: ['date', 'day'],
    campaign: ['campaign name', 'campaign', 'offer name'],
    adset: ['offer name', 'ad group name'],
    creative: ['creative name', 'creative'],
    country: ['country', 'location', 'geo', 'country code'],
    os: ['platform'],
    currency: ['currency'],
    amount: ['spend', 'cost'],
    impressions: ['impression', 'impressions'],
    clicks: ['click', 'clicks'],
  },
} as const satisfies CostFormatDefinition;
