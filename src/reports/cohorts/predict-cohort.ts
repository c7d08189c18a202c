import type { NetTerms, PurchasesAnswer } from '#counting';
import { type Interval, joinIntervals, NOTHING } from '#lib/statistics/interval';
import { type AdHistory, predictAds } from '#lib/statistics/predict-ads';
import {
  type Prediction,
  type Priors,
  type Purchases,
  predictRevenue,
} from '#lib/statistics/predict-revenue';
import { hasManyPayers } from '#lib/statistics/priors';
import { unconvertedOfDevices } from '../engine/unrated.ts';

/** With less data than this, a prediction would be a guess. */
const MIN_DEVICES = 20;
const MIN_DAYS = 7;
const MIN_ACTIVE_DAYS = 50;

/** Why there is no prediction of purchases or ads. */
export const REASONS = {
  too_young: `No device was acquired ${MIN_DAYS} days ago or earlier.`,
  too_few_devices: `The cohort has fewer than ${MIN_DEVICES} devices.`,
  no_payers: 'No device has purchased in a currency with an exchange rate.',
  too_little_activity: `Devices were active on fewer than ${MIN_ACTIVE_DAYS} days after the first.`,
  no_fit: 'The model does not describe these devices.',
} as const;
type Reason = keyof typeof REASONS;

/**
 * The row of one cohort, without the columns that name it. Purchases: BG/NBD models how often those repeat who have bought, Gamma-Gamma how
 * much, and an exponential-gamma model how many of the others begin; purchases on one day count as one. Ads: the retention curve × the revenue
 * per active day. The two are taken as independent of each other for their sum. Amounts without an exchange rate are left out and listed.
 * A cohort with few payers is fitted with what `priors` know of all cohorts, and gets a wide interval. With `net`, of every purchase the share counts that is left of those so far, after refunds and the stores' fee.
 */
export function predictCohort(
  parts: PurchasesAnswer,
  horizonDays: number,
  net: NetTerms | null,
  priors: () => Priors | null,
) {
  const size = total(parts, (part) => part.size);
  const payers = total(parts, (part) => part.payers);
  const purchases = purchasesOf(parts);
  const ads = adsOf(parts);
  const soFar = earnedSoFar(parts, purchases, ads);
  const kept = net === null ? 1 : shareKept(parts, net);
  if (net !== null) soFar.purchases = (soFar.purchases - returnedIn(parts)) * afterFee(net);
  const purchased = predictPurchases({ purchases, size, ages: ads.devices, horizonDays, priors });
  const shown = predictFromAds(ads, size, horizonDays);
  const [gross, ofAds] = [predictionIn(purchased), predictionIn(shown)];
  const ofPurchases = gross && scaled(gross, kept);
  const together = ofPurchases && ofAds ? joinIntervals(ofPurchases, ofAds) : null;
  const perDevice = (ahead: number | undefined) =>
    ahead === undefined ? null : (soFar.purchases + soFar.ads + ahead) / size;
  return {
    size,
    payers,
    purchase_revenue: rounded(soFar.purchases),
    ad_revenue: rounded(soFar.ads),
    revenue: rounded(soFar.purchases + soFar.ads),
    predicted_purchases: ofPurchases?.purchases ?? null,
    ...intervalFields('predicted_purchase_revenue', ofPurchases),
    ...intervalFields('predicted_ad_revenue', ofAds),
    ...intervalFields('predicted_revenue', together),
    predicted_ltv: perDevice(together?.revenue),
    predicted_ltv_low: perDevice(together?.low),
    predicted_ltv_high: perDevice(together?.high),
    reason: typeof purchased === 'string' ? purchased : null,
    ads_reason: typeof shown === 'string' ? shown : null,
    bg_nbd_r: ofPurchases?.repeats.r ?? null,
    bg_nbd_alpha: ofPurchases?.repeats.alpha ?? null,
    bg_nbd_a: ofPurchases?.repeats.a ?? null,
    bg_nbd_b: ofPurchases?.repeats.b ?? null,
    bg_nbd_log_likelihood: ofPurchases?.repeats.logLikelihood ?? null,
    ...unconvertedOfDevices(parts),
  };
}

const returnedIn = (parts: PurchasesAnswer) => total(parts, ({ returnedRevenue }) => returnedRevenue);
const afterFee = ({ storeFeeBasisPoints }: NetTerms) => 1 - storeFeeBasisPoints / 10_000;

/** Purchases without refunds. Refunds in another currency may exceed them, but nobody is expected to take back more than was paid. */
function shareKept(parts: PurchasesAnswer, net: NetTerms): number {
  const purchased = total(parts, ({ purchaseRevenue }) => purchaseRevenue);
  const notReturned = purchased === 0 ? 1 : Math.max(0, 1 - returnedIn(parts) / purchased);
  return notReturned * afterFee(net);
}

const scaled = <Found extends Interval>(found: Found, by: number): Found => ({
  ...found,
  ...{ revenue: found.revenue * by, low: found.low * by, high: found.high * by },
});

const predictionIn = <Found extends Interval>(found: Found | Reason): Found | null =>
  typeof found === 'string' ? null : found;

const NANOS = 1e9;
/** To what an amount of money is rounded everywhere. */
const rounded = (amount: number) => Math.round(amount * NANOS) / NANOS;

function intervalFields<Name extends string>(name: Name, found: Interval | null) {
  const fields = {
    [name]: found && rounded(found.revenue),
    [`${name}_low`]: found && rounded(found.low),
    [`${name}_high`]: found && rounded(found.high),
  };
  return fields as Record<Name | `${Name}_low` | `${Name}_high`, number | null>;
}

const total = (parts: PurchasesAnswer, of: (part: PurchasesAnswer[number]) => number) =>
  parts.reduce((sum, part) => sum + of(part), 0);

const totals = <Name extends string>(
  parts: PurchasesAnswer,
  names: readonly Name[],
  of: (part: PurchasesAnswer[number]) => Record<Name, number>,
) =>
  Object.fromEntries(names.map((name) => [name, total(parts, (part) => of(part)[name])])) as Record<
    Name,
    number
  >;

export function purchasesOf(parts: PurchasesAnswer): Purchases {
  return {
    histories: parts.flatMap((part) =>
      rowsOf(part.histories, 6).map(([x = 0, lastAt = 0, age = 0, valued = 0, count = 0, value = 0]) => ({
        ...{ x, lastAt, age, valued, count, value },
      })),
    ),
    spending: parts.flatMap((part) =>
      rowsOf(part.spending, 4).map(([x = 0, , count = 0, means = 0]) => ({ x, mean: means / count, count })),
    ),
    firsts: parts.flatMap((part) => countsOf(part.firsts)),
    waiting: parts.flatMap((part) => countsOf(part.waiting)),
    firstValues: totals(parts, ['count', 'sum', 'squares'], ({ firstValues }) => firstValues),
  };
}

function adsOf(parts: PurchasesAnswer): AdHistory {
  const devices = parts.flatMap(({ ages }) => countsOf(ages));
  const days = Math.max(0, ...parts.map(({ active }) => active.length), ...devices.map(({ age }) => age));
  const eligible = new Float64Array(days + 1);
  for (const { age, count } of devices) {
    for (let day = 0; day < age; day++) eligible[day] = (eligible[day] ?? 0) + count;
  }
  return {
    devices,
    activity: Array.from(eligible, (count, age) => ({
      age,
      eligible: count,
      active: total(parts, ({ active }) => active[age] ?? 0),
    })),
    earnings: totals(parts, ['n', 'a', 'nn', 'na', 'aa'], ({ earnings }) => earnings),
  };
}

/** What is not known of the revenue so far is estimated by the mean values of what is. */
function earnedSoFar(parts: PurchasesAnswer, { histories, firstValues }: Purchases, { earnings }: AdHistory) {
  const mean = (sum: number, count: number) => (count === 0 ? 0 : sum / count);
  const [valued, value] = histories.reduce(
    ([counts, sums], own) => [counts + own.valued * own.count, sums + own.value],
    [0, 0],
  );
  const first = mean(firstValues.sum, firstValues.count);
  const repeat = valued === 0 ? first : mean(value, valued);
  return {
    purchases:
      total(parts, ({ purchaseRevenue }) => purchaseRevenue) +
      total(parts, ({ unvaluedFirsts }) => unvaluedFirsts) * first +
      total(parts, ({ unvaluedRepeats }) => unvaluedRepeats) * repeat,
    ads:
      total(parts, ({ adRevenue }) => adRevenue) +
      total(parts, ({ unvaluedDays }) => unvaluedDays) * mean(earnings.a, earnings.n),
  };
}

type Ages = AdHistory['devices'];
const isTooYoung = (devices: Ages) => !devices.some(({ age }) => age >= MIN_DAYS);

function predictPurchases({
  purchases,
  size,
  ages,
  horizonDays,
  priors,
}: {
  purchases: Purchases;
  size: number;
  ages: Ages;
  horizonDays: number;
  priors: () => Priors | null;
}): Prediction | Reason {
  if (isTooYoung(ages)) return 'too_young';
  if (size < MIN_DEVICES) return 'too_few_devices';
  if (hasManyPayers(purchases)) {
    return purchases.spending.length === 0 ? 'no_fit' : (predictRevenue(purchases, horizonDays) ?? 'no_fit');
  }
  const nobody = purchases.histories.length === 0 && purchases.waiting.length === 0;
  const known = nobody ? null : priors();
  return known === null ? 'no_payers' : (predictRevenue(purchases, horizonDays, known) ?? 'no_fit');
}

function predictFromAds(ads: AdHistory, size: number, horizonDays: number): Interval | Reason {
  if (ads.earnings.a === 0) return NOTHING;
  if (isTooYoung(ads.devices)) return 'too_young';
  if (size < MIN_DEVICES) return 'too_few_devices';
  const later = ads.activity.reduce((sum, { age, active }) => sum + (age > 0 ? active : 0), 0);
  if (later < MIN_ACTIVE_DAYS) return 'too_little_activity';
  return predictAds(ads, horizonDays) ?? 'no_fit';
}

const countsOf = (numbers: Float64Array) =>
  rowsOf(numbers, 2).map(([age = 0, count = 0]) => ({ age, count }));

function rowsOf(numbers: Float64Array, width: number): number[][] {
  return Array.from({ length: numbers.length / width }, (_, row) => [
    ...numbers.subarray(row * width, (row + 1) * width),
  ]);
}
