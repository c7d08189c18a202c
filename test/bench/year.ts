import { segmentId, UNKNOWN_SEGMENT } from '../../src/catalogue/index.ts';
import { addDays } from '../../src/lib/time.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';

/** Every creative has figures in every country and currency on every day. */
export type YearSize = { days: number; creatives: number; countries: number };

export const YEAR_FROM = '2025-01-01';
export const yearTo = ({ days }: YearSize) => addDays(YEAR_FROM, days - 1);
/** The country and the creative that reports are narrowed to. */
export const YEAR_COUNTRY = 'de';
export const YEAR_CREATIVE = 'crt_year_7';

const COUNTRIES = [
  'us',
  'de',
  'br',
  'in',
  'jp',
  'fr',
  'gb',
  'mx',
  'id',
  'tr',
  'kr',
  'it',
  'es',
  'ph',
  'vn',
  'pl',
  'ca',
  'ar',
  'th',
  'nl',
];
const CURRENCIES = ['usd', 'eur', 'jpy'];

/** The rollups of a year as one counter would have added them, a run a day, with exchange rates of every day. */
export async function fillYear(db: D1Database, applicationId: string, size: YearSize): Promise<void> {
  const countries = COUNTRIES.slice(0, size.countries);
  const segments = countries.map((country) => ({
    ...UNKNOWN_SEGMENT,
    country,
    os: 'android',
    app_version: '1',
  }));
  const ids = segments.map(segmentId);
  const byId = new Map(segments.map((segment) => [segmentId(segment), segment]));
  const numbers = JSON.stringify(Array.from({ length: size.creatives - 1 }, (_, index) => index + 1));
  const days = Array.from({ length: size.days }, (_, day) => addDays(YEAR_FROM, day));
  await db.batch([
    db
      .prepare(
        `INSERT INTO campaigns (id, application_id, name, created_at) VALUES ('cmp_year', ?, 'Year', 0)`,
      )
      .bind(applicationId),
    db
      .prepare(
        `INSERT INTO adsets (id, application_id, campaign_id, name, created_at)
         VALUES ('ads_year', ?, 'cmp_year', 'Year', 0)`,
      )
      .bind(applicationId),
    db
      .prepare(
        `INSERT INTO creatives (id, application_id, adset_id, name, token, created_at)
         SELECT 'crt_year_' || value, ?1, 'ads_year', 'Creative ' || value, 'year_' || value, 0 FROM json_each(?2)`,
      )
      .bind(applicationId, numbers),
    db
      .prepare(
        `INSERT OR REPLACE INTO exchange_rates (team_id, day, currency, base, units, worth, updated_at)
         SELECT '', value ->> 0, value ->> 1, 'usd', '1', value ->> 2, 0 FROM json_each(?)`,
      )
      .bind(
        JSON.stringify(
          days.flatMap((day, at) => [
            [day, 'eur', `1.08${at}`],
            [day, 'jpy', `0.0067${at}`],
          ]),
        ),
      ),
  ]);
  for (const [at, day] of days.entries()) {
    const additions = new Additions('rollup_daily');
    for (let creative = 0; creative < size.creatives; creative++) {
      const key = { application_id: applicationId, day, creative_id: creative ? `crt_year_${creative}` : '' };
      for (const [country, id] of ids.entries()) {
        const counts = { installs: 3 + country, active_devices: 40 + creative, clicks: 9, sessions: 50 + at };
        additions.add({ ...key, currency: '' }, id, counts);
        const impressions = {
          impressions: 100 + creative,
          ad_revenue: 123_456 + creative * country * 77 + at,
        };
        const purchases =
          (creative + country + at) % 4 === 0 ? { purchases: 1, purchase_revenue: 4_990_000 } : {};
        for (const currency of CURRENCIES)
          additions.add({ ...key, currency }, id, { ...impressions, ...purchases });
      }
    }
    await addRun(
      db,
      { applicationId, shard: 0, sequence: at + 1 },
      additions,
      (id) => byId.get(id) ?? UNKNOWN_SEGMENT,
    );
  }
}
