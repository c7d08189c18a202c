import type { Filters, Question } from './question.ts';
import { NAMED, plusDays, SEGMENTS, type World } from './question.ts';

// Every report with every grouping and pair; and each with filters, alone and two at once, and with odd periods.

type Period = { from: string; to: string };

const TIMES = ['day', 'week', 'month'];
const DEVICE_GROUPS = [...NAMED, ...SEGMENTS];
/** Which of these no event has together: their pairs are refused. */
const OF_ADS = ['source', 'media_source', 'placement'];
const COLUMNS = [...OF_ADS, 'item', 'event_name', 'currency'];

const isTogether = (left: string, right: string): boolean => {
  if (!COLUMNS.includes(left) || !COLUMNS.includes(right)) return true;
  const pair = [left, right];
  if (pair.includes('event_name')) return false;
  return !(pair.includes('item') && pair.some((name) => OF_ADS.includes(name)));
};

const pairsOf = (names: readonly string[]) =>
  names.flatMap((left, at) => names.slice(at + 1).map((right) => [left, right]));

const GROUPINGS = [
  ...[...TIMES, ...DEVICE_GROUPS, ...COLUMNS].map((one) => [one]),
  ...pairsOf([...TIMES, ...DEVICE_GROUPS, ...COLUMNS]).filter(([left = '', right = '']) =>
    isTogether(left, right),
  ),
  ['currency', 'day'],
  ...[[], ['day'], ['creative'], ['adset'], ['campaign'], ['currency']].map((more) => ['hour', ...more]),
];

const filtersIn = ({ ids }: World): Filters[] => {
  const [first, second, third] = ids;
  if (!first || !second || !third) throw new Error('three creatives');
  const one: Filters[] = [
    { campaign_id: [first.campaign] },
    { adset_id: [first.adset] },
    { creative_id: [second.creative, third.creative] },
    { country: ['de'] },
    { country: ['DE', 'unknown'] },
    { os: ['android'] },
    { os: ['iOS', 'windows'] },
    { app_version: ['1.1'] },
    { network: ['meta'] },
    { network: ['TikTok', 'unknown'] },
    { sdk_version: ['7.1', '8'] },
    { attribution: 'paid' },
    { attribution: 'organic' },
  ];
  const two: Filters[] = [
    { campaign_id: [first.campaign], country: ['In'] },
    { adset_id: [third.adset], os: ['android'] },
    { creative_id: [first.creative], app_version: ['1.0', '2.0'] },
    { country: ['BR'], os: ['ios'] },
    { network: ['tiktok'], sdk_version: ['7'] },
    { country: ['us', 'JP', 'za'], network: ['tiktok'] },
    { network: ['meta'], attribution: 'paid' },
    { country: ['de'], app_version: ['2.0'] },
    { os: ['Android'], attribution: 'paid' },
    { attribution: 'organic', app_version: ['1.0'] },
    { campaign_id: [first.campaign], adset_id: [second.adset] },
    // No device is of both.
    { campaign_id: [first.campaign], creative_id: [third.creative] },
    { attribution: 'organic', campaign_id: [first.campaign] },
  ];
  return [...one, ...two];
};

const DAYS = [0, 1, 3, 7, 20];
/** Metrics of cohorts, and some others that are not shown unless asked for with them. */
const METRICS = [
  ...['installs', 'profit', 'roas'],
  ...[
    'roas_d0',
    'roas_d3',
    'roas_d7',
    'roas_d30',
    'ltv_d1',
    'ltv_d7',
    'ltv_net_d7',
    'roas_net_d3',
    'retention_d1',
    'retention_d14',
  ],
];
const STEPS = [
  ['install', 'ad', 'purchase'],
  ['install', 'event:tutorial', 'event:level_up', 'retention', 'purchase'],
  ['purchase', 'purchase', 'ad'],
];
const COHORTS = ['day', 'week', 'month', 'all'] as const;

const sidesOf = ({ ids }: World, { from, to }: Period) => {
  const [first, second, third] = ids;
  const middle = plusDays(from, 6);
  return [
    { groups: ['country'], sides: { a: 'DE', b: 'in' } },
    { groups: ['os'], sides: { a: 'Android', b: 'ios' } },
    { groups: ['app_version'], sides: { a: '1.0', b: '2.0' } },
    { groups: ['sdk_version'], sides: { a: '7', b: '7.1' } },
    { groups: ['network'], sides: { a: 'Meta', b: 'tiktok' } },
    { groups: ['creative'], sides: { a: first?.creative ?? '', b: second?.creative ?? '' } },
    { groups: ['adset'], sides: { a: first?.adset ?? '', b: third?.adset ?? '' } },
    { groups: ['campaign'], sides: { a: first?.campaign ?? '', b: third?.campaign ?? '' } },
    { from, to: middle, groups: ['period'], sides: { b_from: plusDays(middle, 1), b_to: to } },
  ];
};

/** The reports of one kind of question; none of them may be forgotten by filters and periods. */
function ofEach(world: World, at: Period & { filters: Filters }): Question[] {
  const asked = { ...at, groups: [] as string[] };
  const days = DAYS;
  const isBySegment = SEGMENTS.some((name) => at.filters[name] !== undefined);
  const performance = [
    ['day'],
    ['month', 'country'],
    ['creative'],
    ['app_version'],
    ['network', 'sdk_version'],
    ['creative', 'network'],
    ['source'],
    ['currency'],
  ];
  if (!isBySegment) performance.push(['hour']);
  const cohorts = [['creative'], ['day'], ['country'], ['sdk_version', 'month']];
  return [
    ...cohorts.map((groups): Question => ({ ...asked, report: 'performance', groups, metrics: METRICS })),
    ...performance.map((groups): Question => ({ ...asked, report: 'performance', groups })),
    { ...asked, report: 'retention', cohort: 'week', days },
    { ...asked, report: 'retention', cohort: 'all', groups: ['os'], days },
    { ...asked, report: 'ltv', cohort: 'day', days },
    { ...asked, report: 'ltv', cohort: 'month', groups: ['campaign'], days },
    { ...asked, report: 'ltv', cohort: 'all', groups: ['country'], days },
    { ...asked, report: 'ltv', cohort: 'all', groups: ['network'], days },
    { ...asked, report: 'retention', cohort: 'all', groups: ['sdk_version'], days },
    { ...asked, report: 'funnel', steps: STEPS[0] ?? [] },
    { ...asked, report: 'funnel', steps: STEPS[1] ?? [], window_hours: 30, groups: ['app_version'] },
    { ...asked, report: 'ads' },
    { ...asked, report: 'ads', groups: ['country'] },
    ...sidesOf(world, at)
      .filter((_, index) => index === 1 || index === 6)
      .filter((one) => !one.sides.b_from || one.sides.b_from <= (one.sides.b_to ?? ''))
      .map((one): Question => ({ ...asked, report: 'compare', days, ...one })),
    { ...asked, report: 'client-totals' },
    { ...asked, report: 'predicted-ltv', cohort: 'all' },
  ];
}

/** Amounts in other currencies, and tables that are cut off. */
function ofParameters(all: Pick<Question, 'from' | 'to' | 'groups' | 'filters'>): Question[] {
  const days = DAYS;
  const performance = (groups: string[], more: Partial<Question>): Question => ({
    ...{ ...all, ...more, report: 'performance', groups },
  });
  return [
    performance(['day'], { currency: 'jpy' }),
    ...[['week'], ['campaign'], ['adset', 'day'], ['os', 'creative'], ['source'], ['currency'], ['hour']].map(
      (groups) => performance(groups, { metrics: METRICS }),
    ),
    performance(['creative'], { metrics: METRICS, currency: 'jpy' }),
    performance(['day'], { metrics: ['roas_d1'] }),
    performance(['country'], { metrics: ['retention_d1', 'retention_d3'] }),
    performance(['day'], { metrics: METRICS, until_hour: 9 }),
    performance(['campaign', 'currency'], { currency: 'eur' }),
    performance(['hour'], { currency: 'usd', limit: 30 }),
    performance(['day'], { limit: 4 }),
    performance(['creative', 'day'], { limit: 7, currency: 'chf' }),
    performance(['source', 'media_source'], { limit: 2 }),
    performance(['app_version', 'country'], { limit: 3, filters: { attribution: 'paid' } }),
    performance(['creative'], { q: 'cAT' }),
    performance(['source', 'day'], { q: 'banner', limit: 3 }),
    performance(['media_source'], { q: 'nothing' }),
    { ...all, report: 'ads', limit: 6, currency: 'eur' },
    { ...all, report: 'ads', groups: ['campaign'], q: 'admob', limit: 5 },
    { ...all, report: 'retention', cohort: 'day', groups: ['country'], limit: 5, days },
    { ...all, report: 'retention', cohort: 'all', groups: ['creative'], limit: 1, days },
    { ...all, report: 'ltv', cohort: 'week', currency: 'jpy', days },
    { ...all, report: 'ltv', cohort: 'day', groups: ['app_version'], limit: 4, currency: 'eur', days },
    { ...all, report: 'predicted-ltv', cohort: 'week', currency: 'chf' },
    { ...all, report: 'predicted-ltv', cohort: 'day', groups: ['country'], limit: 3, currency: 'jpy' },
    { ...all, report: 'compare', groups: ['os'], sides: { a: 'android', b: 'ios' }, currency: 'jpy', days },
  ];
}

/** `period` has the whole history, whose first event is after `period.from`. */
export function questionsOf(world: World, period: Period): Question[] {
  const all = { ...period, filters: {}, groups: [] as string[] };
  const days = DAYS;
  const cohorts = COHORTS.flatMap((cohort) =>
    [[], ...DEVICE_GROUPS.map((group) => [group])].map((groups) => ({ cohort, groups })),
  );
  const odd: Period[] = [
    // One day.
    { from: plusDays(period.from, 9), to: plusDays(period.from, 9) },
    // From the middle of a week and a month to the future.
    { from: plusDays(period.from, 5), to: plusDays(world.today, 9) },
    { from: plusDays(period.from, -40), to: plusDays(period.from, 4) },
    // Before everything, and after it.
    { from: plusDays(period.from, -40), to: plusDays(period.from, -30) },
    { from: plusDays(world.today, 3), to: plusDays(world.today, 5) },
  ];
  return [
    ...GROUPINGS.map((groups): Question => ({ ...all, report: 'performance', groups })),
    ...[['day'], ['creative'], ['hour']].map(
      (groups): Question => ({ ...all, report: 'performance', groups, until_hour: 9 }),
    ),
    ...cohorts.map((one): Question => ({ ...all, ...one, report: 'retention', days })),
    ...cohorts.map((one): Question => ({ ...all, ...one, report: 'ltv', days })),
    ...[[], ...DEVICE_GROUPS.map((group) => [group])].flatMap((groups): Question[] => [
      ...STEPS.map((steps): Question => ({ ...all, report: 'funnel', groups, steps })),
      { ...all, report: 'ads', groups },
      { ...all, report: 'predicted-ltv', groups, cohort: 'week' },
    ]),
    ...sidesOf(world, period).map((one): Question => ({ ...all, report: 'compare', days, ...one })),
    ...ofParameters(all),
    ...filtersIn(world).flatMap((filters) => ofEach(world, { ...period, filters })),
    ...odd.flatMap((bounds) => ofEach(world, { ...bounds, filters: {} })).filter(isKept(world)),
  ];
}

/** Figures by hour are kept for 32 days. */
const isKept = (world: World) => (question: Question) =>
  !question.groups.includes('hour') || question.from >= plusDays(world.today, -32);
