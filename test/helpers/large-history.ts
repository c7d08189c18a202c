import { HOURS_KEPT_DAYS } from '../../src/catalogue/index.ts';
import { addDays, dayIn } from '../../src/lib/time.ts';
import { addFigures, compactFigures, type Figures } from './figures.ts';

/** Names that layouts break on: as long as they may be, without a space, right to left, and of emoji. */
export const ODD_NAMES = [
  'x'.repeat(200),
  'Очень длинное имя '.repeat(11).slice(0, 200),
  'إعلان اللعبة الجديدة مع مكافأة يومية للاعبين الجدد '.repeat(4).slice(0, 200),
  '🧑‍🚀🎮🔥'.repeat(28),
  '<b>&"\'</b>',
];

export type HistorySize = {
  creatives: number;
  days: number;
  /** Each creative has figures on one day in this many. */
  everyDays: number;
  /** How many days are added at once; 1 if absent, as a counter does. */
  daysPerRun?: number;
};

const CAMPAIGNS = 20;
const ADSETS = 100;
const NETWORKS = ['admob', 'unity_ads', ODD_NAMES[0] ?? ''];
/** The ages in days at which devices of a cohort are active, and those at which they bring revenue. */
const ACTIVE_AGES = [0, 1, 7];
const PAYING_AGES = [0, 3];

/** Each creative has figures in every third hour of a day. */
const EVERY_HOURS = 3;

/** A day's figures spread over its hours. The first of them has what cannot be divided. Figures by hour count no devices. */
function inHours(figures: Figures<'rollup_daily'>, first: number, end: number): Figures<'rollup_hours'>[] {
  const { day, creative_id, currency, active_devices: _, payers: __, ...amounts } = figures;
  const clock = Array.from({ length: 24 }, (_, hour) => hour).filter((hour) => hour % EVERY_HOURS === first);
  const hours = clock.filter((hour) => hour < end);
  return hours.map((hour, index) => ({
    ...(day === undefined ? {} : { day }),
    ...(creative_id === undefined ? {} : { creative_id }),
    ...(currency === undefined ? {} : { currency }),
    hour: `${day}T${String(hour).padStart(2, '0')}:00:00+00:00`,
    ...Object.fromEntries(
      Object.entries(amounts).map(([name, sum = 0]) => {
        const share = Math.floor(Number(sum) / hours.length);
        return [name, index === 0 ? Number(sum) - share * (hours.length - 1) : share];
      }),
    ),
  }));
}

const id = (prefix: string, number: number) => `${prefix}_${number.toString(16).padStart(32, '0')}`;
const named = (word: string, number: number) => ODD_NAMES[number - 1] ?? `${word} ${number}`;
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Adds campaigns, ad sets and creatives, and costs of every day. */
async function addNames(
  db: D1Database,
  applicationId: string,
  { creatives }: HistorySize,
  days: readonly string[],
): Promise<void> {
  const insert = (table: string, columns: string, rows: unknown[][]) =>
    db
      .prepare(
        `INSERT INTO ${table} (application_id, ${columns})
         SELECT ?1, ${columns.split(', ').map((_, index) => `value ->> ${index}`)} FROM json_each(?2)`,
      )
      .bind(applicationId, JSON.stringify(rows));
  const campaignOf = (adset: number) => id('cmp', 1 + (adset % CAMPAIGNS));
  const adsetOf = (creative: number) => id('ads', 1 + (creative % ADSETS));
  await db.batch([
    insert(
      'campaigns',
      'id, name, created_at',
      upTo(CAMPAIGNS).map((n) => [id('cmp', n), named('Campaign', n), n]),
    ),
    insert(
      'adsets',
      'id, campaign_id, name, created_at',
      upTo(ADSETS).map((n) => [id('ads', n), campaignOf(n), named('Ad set', n), n]),
    ),
    insert(
      'creatives',
      'id, adset_id, name, token, created_at',
      upTo(creatives).map((n) => [id('crt', n), adsetOf(n), named('Creative', n), `large_history_${n}`, n]),
    ),
    insert(
      'costs',
      'day, campaign, currency, amount, updated_at',
      days.flatMap((day) => upTo(CAMPAIGNS).map((n) => [day, named('Campaign', n), 'usd', 5_000_000, 0])),
    ),
  ]);
}

const nothingCounted = () => ({
  daily: [] as Figures<'rollup_daily'>[],
  ads: [] as Figures<'rollup_ads'>[],
  activity: [] as Figures<'cohort_activity'>[],
  revenue: [] as Figures<'cohort_revenue'>[],
});

/** Adds a history that ends today: names, figures by day, networks, cohorts and costs. */
export async function addLargeHistory(
  db: D1Database,
  applicationId: string,
  size: HistorySize,
  now: number,
): Promise<void> {
  const last = dayIn('UTC', now);
  const days = upTo(size.days).map((number) => addDays(last, number - size.days));
  await addNames(db, applicationId, size, days);
  const { daysPerRun = 1 } = size;
  let run = nothingCounted();
  for (const [index, day] of days.entries()) {
    const { daily, ads, activity, revenue } = run;
    const before = daily.length;
    for (let creative = 1; creative <= size.creatives; creative++) {
      // Makes one day differ from the next.
      const n = creative + index + 1;
      if (n % size.everyDays !== 0) continue;
      const creative_id = id('crt', creative);
      const shown = { impressions: 200 + (n % 50), ad_revenue: 900_000_000 + n * 1_000_000 };
      daily.push({
        day,
        creative_id,
        currency: 'usd',
        clicks: 40 + (n % 9),
        installs: 4 + (n % 3),
        active_devices: 20 + (n % 7),
        sessions: 30,
        session_seconds: 900,
        payers: 1,
        ...shown,
        purchases: 1,
        purchase_revenue: 1_990_000_000,
      });
      const media_source = NETWORKS[Math.floor(n / size.everyDays) % NETWORKS.length] ?? '';
      ads.push({
        day,
        source: 'banner',
        media_source,
        placement: 'main',
        creative_id,
        currency: 'usd',
        ...shown,
      });
      for (const age of ACTIVE_AGES) {
        if (addDays(day, age) > last) continue;
        const active_devices = Math.max(1, 4 - age);
        activity.push({ acquired_day: day, creative_id, age, active_devices, last_active_devices: 1 });
      }
      for (const age of PAYING_AGES) {
        const earned = addDays(day, age);
        if (earned > last) continue;
        const amounts = { ad_revenue: 100_000_000, purchase_revenue: 500_000_000 };
        revenue.push({ acquired_day: day, creative_id, day: earned, currency: 'usd', ...amounts });
      }
    }
    if (size.days - index <= HOURS_KEPT_DAYS + 1) {
      // At least the first hour of today has figures.
      const end = day === last ? new Date(now).getUTCHours() + 1 : 24;
      const hours = daily
        .slice(before)
        .flatMap((figures, at) => inHours(figures, end < EVERY_HOURS ? 0 : at % EVERY_HOURS, end));
      await addFigures(db, applicationId, 'rollup_hours', hours);
    }
    if ((index + 1) % daysPerRun !== 0 && day !== last) continue;
    await addFigures(db, applicationId, 'rollup_daily', daily);
    await addFigures(db, applicationId, 'rollup_ads', ads);
    await addFigures(db, applicationId, 'cohort_activity', activity);
    await addFigures(db, applicationId, 'cohort_revenue', revenue);
    run = nothingCounted();
  }
  await compactFigures(db, applicationId);
}
