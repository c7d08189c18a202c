import { readFile } from 'node:fs/promises';
import { runCommand, UsageError } from '../../src/cli/command.ts';
import { addDays, daysBetween } from '../../src/lib/time.ts';
import { localService, until } from './local-service.ts';

// A backtest on real input: the customers of the published sample of CDNOW (id, id within the sample, date, number of CDs, amount) go through
// /fetch-token/batch and /webhook/batch of the running local service, acquired on the day of their first purchase. The prediction as of the
// end of week 39 is compared with the published fit, and with what the customers bought in the 39 weeks after.
//
//   npm run verify:cdnow -- path/to/cdnow_sample.txt

/** The data is of 1997 and 1998; whole weeks later, the service takes it as an import. */
const SHIFT_DAYS = 7 * 1_409;
const CALIBRATED_UNTIL = '1997-09-30';
const HOLDOUT_DAYS = 273;
/** Fader, Hardie, Lee 2005, in weeks, as rounded there. */
const PUBLISHED = { r: 0.243, alpha: 4.414, a: 0.793, b: 2.426, log_likelihood: -9582.4 };

type Purchase = { day: string; amount: number };

async function readCustomers(file: string): Promise<Map<string, Purchase[]>> {
  const customers = new Map<string, Purchase[]>();
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    const [, id, date = '', , amount] = line.trim().split(/\s+/);
    if (!id) continue;
    const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6, 8)}`;
    customers.set(id, [...(customers.get(id) ?? []), { day, amount: Number(amount) }]);
  }
  for (const own of customers.values()) own.sort((left, right) => (left.day < right.day ? -1 : 1));
  return customers;
}

const shifted = (day: string) => addDays(day, SHIFT_DAYS);

const devicesOf = (customers: ReadonlyMap<string, Purchase[]>) =>
  [...customers].map(([id, purchases]) => ({
    id,
    acquired: shifted(purchases[0]?.day ?? ''),
    events: purchases.map(({ day, amount }, at) => ({
      type: 'custom.purchase',
      created_at: `${shifted(day)} 12:00:00`,
      payload: { status: 'success', value: amount, currency: 'usd', tr_id: `${id}-${at}`, item_id: 'cd' },
    })),
  }));

type Row = Record<string, string | number | null>;

async function main(file: string): Promise<boolean> {
  const service = await localService();
  const customers = await readCustomers(file);
  const days = [...customers.values()].flat().map(({ day }) => day);
  const [from = '', to = ''] = [days.reduce((a, b) => (a < b ? a : b)), CALIBRATED_UNTIL].map(shifted);
  const id = await service.send(`CDNOW ${new Date().toISOString()}`, devicesOf(customers));
  const report = (name: string, query: string) =>
    service.ask<{ data: Row[]; totals: Row }>(
      `/v1/reports/${name}?application_id=${id}&from=${from}&${query}`,
    );
  await until(
    () => report('performance', `to=${shifted('1998-06-30')}&group_by=month`),
    ({ totals }) => totals.purchases === days.length,
  );
  const query = `to=${to}&as_of=${to}&horizon_days=${HOLDOUT_DAYS}&limit=50`;
  const [whole = {}] = (await report('predicted-ltv', query)).data;
  const weeks = (await report('predicted-ltv', `${query}&cohort=week`)).data;

  // Likelihoods are of times in days, and every repeat has a density.
  const repeats = [...customers.values()].reduce((sum, own) => sum + repeatDays(own), 0);
  const fitted = {
    r: Number(whole.bg_nbd_r),
    alpha: Number(whole.bg_nbd_alpha) / 7,
    a: Number(whole.bg_nbd_a),
    b: Number(whole.bg_nbd_b),
    log_likelihood: Number(whole.bg_nbd_log_likelihood) + repeats * Math.log(7),
  };
  const isFitted = Object.entries(PUBLISHED).every(
    ([name, value]) =>
      Math.abs(fitted[name as keyof typeof fitted] - value) <= (name === 'log_likelihood' ? 0.05 : 0.0005),
  );
  console.log('fitted   ', fitted, '\npublished', PUBLISHED);

  const came = (row: Row) => futureOf(customers, String(row.cohort_from), String(row.cohort_to));
  const describe = (row: Row) => {
    const { purchases, revenue } = came(row);
    const percent = (predicted: unknown, actual: number) =>
      `${(100 * (Number(predicted) / actual - 1)).toFixed(1)} %`;
    return `purchases ${Number(row.predicted_purchases).toFixed(0)} of ${purchases} (${percent(row.predicted_purchases, purchases)}), revenue $${row.predicted_purchase_revenue} of $${revenue.toFixed(2)} (${percent(row.predicted_purchase_revenue, revenue)}), interval $${row.predicted_purchase_revenue_low} to $${row.predicted_purchase_revenue_high}`;
  };
  const isCovered = (row: Row) => {
    const { revenue } = came(row);
    return (
      Number(row.predicted_purchase_revenue_low) <= revenue &&
      revenue <= Number(row.predicted_purchase_revenue_high)
    );
  };
  console.log(`all customers: ${describe(whole)}`);
  for (const row of weeks) {
    console.log(`${row.cohort_from}: ${describe(row)}${isCovered(row) ? '' : ', outside'}`);
  }
  const covered = weeks.filter(isCovered).length;
  console.log(`${covered} of ${weeks.length} weekly cohorts within their interval`);
  // The total, too, is to be inside its interval.
  if (!isCovered(whole)) return false;
  const error = Math.abs(Number(whole.predicted_purchase_revenue) / came(whole).revenue - 1);
  return isFitted && error <= 0.16 && covered >= 0.8 * weeks.length;
}

/** Days with a repeat purchase until the end of the calibration. */
function repeatDays(purchases: readonly Purchase[]): number {
  const days = new Set(purchases.map(({ day }) => day).filter((day) => day <= CALIBRATED_UNTIL));
  return days.size - 1;
}

/** What customers acquired on these days bought after the calibration; purchases on one day are one. */
function futureOf(customers: ReadonlyMap<string, Purchase[]>, from: string, to: string) {
  const own = [...customers].flatMap(([id, purchases]) => {
    const acquired = shifted(purchases[0]?.day ?? '');
    if (acquired < from || acquired > to) return [];
    const last = addDays(CALIBRATED_UNTIL, HOLDOUT_DAYS);
    return purchases
      .filter(({ day }) => day > CALIBRATED_UNTIL && daysBetween(day, last) >= 0)
      .map(({ day, amount }) => ({ key: `${id}/${day}`, amount }));
  });
  return {
    purchases: new Set(own.map(({ key }) => key)).size,
    revenue: own.reduce((sum, { amount }) => sum + amount, 0),
  };
}

await runCommand(
  {
    usage: `Usage: npm run verify:cdnow -- path/to/cdnow_sample.txt

Sends the purchases of the published CDNOW sample to the service that npm start runs, and compares predicted LTV with what the customers bought later.`,
    options: {},
    positionals: ['file'],
  },
  async ({ positionals: [file] }) => {
    if (!file) throw new UsageError('Pass the file to send.');
    const isAsPublished = await main(file);
    console.log(isAsPublished ? 'as published, or better' : 'WORSE THAN PUBLISHED');
    return isAsPublished ? 0 : 1;
  },
);
