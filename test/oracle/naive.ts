import type { Sent } from './history.ts';

// The reports once more, naively: one plain pass over the events a figure. Amounts are whole nanos; a rate is a ratio of
// whole numbers; sums stay fractions until they are rounded at the end.

export type Ratio = [above: bigint, below: bigint];
/** Nanos of a currency on a day, in the reporting currency; null if they cannot be converted. */
export type RateOn = (currency: string, day: string) => Ratio | null;

/** What a debug build sends counts nowhere. */
export const isCounted = (event: Sent) => !event.test;

/** Nine decimal places of an amount that was sent, rounded as on paper: half a billionth up. */
export function nanosIn(amount: unknown): bigint {
  // From 1e-7 on, numbers are written with an exponent.
  const [digits = '', exponent = '0'] = String(amount).split('e-');
  const text = exponent === '0' ? digits : `0.${'0'.repeat(Number(exponent) - 1)}${digits.replace('.', '')}`;
  const [units = '', part = ''] = text.split('.');
  const places = part.padEnd(10, '0');
  return BigInt(units + places.slice(0, 9)) + (places.charAt(9) >= '5' ? 1n : 0n);
}
export const nanos = (event: Sent) => nanosIn(event.payload.value);
export const isAd = (event: Sent) => event.type === 'custom.ad';
export const isPaid = (event: Sent) =>
  event.type === 'custom.purchase' && ['completed', 'success'].includes(String(event.payload.status));
export const isFailed = (event: Sent) =>
  event.type === 'custom.purchase' && event.payload.status === 'failed';
const currencyOf = (event: Sent) => String(event.payload.currency);

export type Amount = { nanos: bigint; currency: string; day: string };
/** An amount that was spent, and the impressions that were bought for it. */
export type Spend = Amount & { impressions?: number | undefined };
const amountOf = (event: Sent): Amount => ({
  nanos: nanos(event),
  currency: currencyOf(event),
  day: event.day,
});

/** The exact sum in nanos of the reporting currency, without what has no rate. */
function exactSum(amounts: Amount[], rateOn: RateOn): Ratio {
  let [above, below] = [0n, 1n];
  for (const amount of amounts) {
    const rate = rateOn(amount.currency, amount.day);
    if (!rate) continue;
    above = above * rate[1] + amount.nanos * rate[0] * below;
    below *= rate[1];
    for (let left = above, right = below; ; [left, right] = [right, left % right]) {
      if (right !== 0n) continue;
      above /= left;
      below /= left;
      break;
    }
  }
  return [above, below];
}

/** The sum in units of the reporting currency, rounded to a nano, without what has no rate. */
export function money(amounts: Amount[], rateOn: RateOn): number {
  const sum = exactSum(amounts, rateOn);
  return Number((2n * sum[0] + sum[1]) / (2n * sum[1])) / 1e9;
}

const distinct = (values: unknown[]) => new Set(values.map((value) => JSON.stringify(value))).size;
const per = (above: number | null, below: number | null) =>
  above === null || below === null || below === 0 ? null : above / below;
/** Ad requests are sent as custom events, and counted by themselves. */
export const isRequest = (event: Sent) => event.payload.event_name === 'ad_request';
const requests = (event: Sent) =>
  isRequest(event) ? Number((event.payload.params as { value: string }).value) : 0;
const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);

/** Every metric of the performance report over these events. */
export function performance(events: Sent[], all: Sent[], costs: Spend[], days: number, rateOn: RateOn) {
  const ads = events.filter(isAd);
  const paid = events.filter(isPaid);
  const installs = events.filter((event) => event.type === 'install');
  const doubted = installs.filter((event) => event.doubted).length;
  const adRevenue = money(ads.map(amountOf), rateOn);
  const purchaseRevenue = money(paid.map(amountOf), rateOn);
  // The two amounts that are shown add up to the third.
  const revenue = adRevenue + purchaseRevenue;
  // A device is one of a day, under the versions of the latest event that it sends on it, and so is a payer.
  const inside = (first: ReadonlySet<Sent>) => events.filter((event) => first.has(event));
  const active = inside(lastOfDays(all)).length;
  const isOneDay = distinct(events.map((event) => event.day)) === 1;
  const taken = refundsIn(all);
  const refunded = taken.filter(({ refund }) => events.includes(refund));
  const returned = taken.filter(({ purchase }) => events.includes(purchase));
  const returnedRevenue = money(
    returned.map((own) => takenOn(own.purchase, own)),
    rateOn,
  );
  const payers = isOneDay
    ? inside(lastOfDays(all.filter(isPaid))).length
    : distinct(paid.map((event) => event.device));
  const adRequests = total(events.map(requests));
  const spend = money(costs, rateOn);
  const bought = total(costs.map(({ impressions }) => impressions ?? 0));
  const attributed = installs.filter((event) => event.creative !== null);
  const earningsOf = (acquired: Sent[]) => {
    const devices = new Set(acquired.map((event) => event.device));
    return amountsOf(all.filter((event) => devices.has(event.device)));
  };
  const earnedBy = (acquired: Sent[]) => money(earningsOf(acquired), rateOn);
  const returnedOf = (acquired: Sent[]) => {
    const devices = new Set(acquired.map((event) => event.device));
    const own = taken.filter(({ purchase }) => devices.has(purchase.device));
    return money(
      own.map((one) => takenOn(one.purchase, one)),
      rateOn,
    );
  };
  const lacking = unconverted([...amountsOf(events), ...costs], rateOn);
  const lackingRoas = spend === 0 ? [] : unconverted(earningsOf(installs), rateOn);
  const lengths = inside(firstEnds(all)).flatMap(({ payload }) =>
    payload.session_seconds === undefined ? [] : [Number(payload.session_seconds)],
  );
  const sessionSeconds = total(lengths);
  return {
    clicks: 0,
    ad_impressions_bought: bought,
    ctr: per(0, bought),
    // Its histories have no clicks.
    cvr: per(attributed.length, 0),
    ipm: per(attributed.length * 1000, bought),
    installs: installs.length,
    doubted_installs: doubted,
    net_installs: installs.length - doubted,
    dau: per(active, days),
    sessions: inside(firstOfSessions(all)).length,
    session_seconds: sessionSeconds,
    average_session_seconds: per(sessionSeconds, lengths.length),
    impressions: ads.length,
    ad_revenue: adRevenue,
    ecpm: per(adRevenue * 1000, ads.length),
    ad_requests: adRequests,
    fill_rate: per(ads.length, adRequests),
    purchases: paid.length,
    failed_purchases: events.filter(isFailed).length,
    payers,
    purchase_revenue: purchaseRevenue,
    revenue,
    refunds: distinct(refunded.map(({ refund }) => refund).filter(isRefund)),
    refunded_revenue: money(
      refunded.map((own) => takenOn(own.refund, own)),
      rateOn,
    ),
    net_revenue: revenue - returnedRevenue,
    trials: 0,
    renewals: 0,
    arpdau: per(revenue, active),
    arpdau_net: per(revenue - returnedRevenue, active),
    arppu: per(purchaseRevenue, payers),
    arppu_net: per(purchaseRevenue - returnedRevenue, payers),
    spend,
    profit: revenue - spend,
    profit_net: revenue - returnedRevenue - spend,
    // Nothing spent is no price of nothing.
    cpi: spend === 0 ? null : per(spend, attributed.length),
    cpc: null,
    cpm: spend === 0 ? null : per(spend * 1000, bought),
    roas: per(earnedBy(attributed), spend),
    roas_blended: per(earnedBy(installs), spend),
    roas_net: per(earnedBy(attributed) - returnedOf(attributed), spend),
    roas_blended_net: per(earnedBy(installs) - returnedOf(installs), spend),
    unconverted: lacking.length === 0 ? undefined : lacking,
    roas_unconverted: lackingRoas.length === 0 ? undefined : lackingRoas,
    events: events.filter((event) => event.type === 'custom' && !isRequest(event)).length,
  };
}

/** Computes once per history what every figure of it needs. */
function ofHistory(compute: (all: Sent[]) => Sent[]): (all: Sent[]) => ReadonlySet<Sent> {
  const known = new WeakMap<Sent[], ReadonlySet<Sent>>();
  return (all) => {
    const found = known.get(all) ?? new Set(compute(all));
    known.set(all, found);
    return found;
  };
}

const isRefund = ({ payload }: Sent) => payload.status === 'refunded';
const isReversal = ({ payload }: Sent) => payload.status === 'refund_reversed';

/**
 * What is taken back of a purchase after some refunds and reversals, in the order of their times, by currency. Amounts of two currencies cannot be
 * compared, so nothing is refunded after a refund in another one, and any reversal puts all of it back.
 */
function takenAfter(purchase: Sent, steps: readonly Sent[]): Map<string, bigint> {
  const [whole, own] = [nanos(purchase), currencyOf(purchase)];
  const second = ({ at }: Sent) => Math.floor(at / 1_000);
  let level = 0n;
  let foreign: [currency: string, amount: bigint] | null = null;
  for (const step of steps.toSorted((left, right) => second(left) - second(right))) {
    const amount = nanos(step) || whole;
    const isForeign = nanos(step) > 0n && currencyOf(step) !== own;
    if (!isRefund(step)) {
      level = foreign || isForeign || amount > level ? 0n : level - amount;
      foreign = null;
    } else if (!foreign && level < whole) {
      if (isForeign) foreign = [currencyOf(step), amount];
      else level = level + amount > whole ? whole : level + amount;
    }
  }
  return new Map([[own, level], ...(foreign ? [foreign] : [])]);
}

/** `amount` of a currency, more than before, that a refund takes back of a purchase; below 0 for what a reversal puts back. */
type Taken = { refund: Sent; purchase: Sent; amount: bigint; currency: string };

/** What was taken back, as an amount of the day of one of its events. */
const takenOn = ({ day }: Sent, { amount, currency }: Taken): Amount => ({ nanos: amount, currency, day });

/**
 * By how much each refund, and each reversal of one, changes what is taken back of its purchase, in the order in which they were sent: the
 * purchase may be sent later.
 */
function refundsIn(all: Sent[]): Taken[] {
  const known = refundsOfHistory.get(all);
  if (known) return known;
  const found = all.filter(isPaid).flatMap((purchase) => {
    const steps = all.filter(
      (event) =>
        (isRefund(event) || isReversal(event)) &&
        event.payload.tr_id === purchase.payload.tr_id &&
        !event.test,
    );
    return steps.flatMap((refund, index) => {
      const [after, before] = [index + 1, index].map((end) => takenAfter(purchase, steps.slice(0, end)));
      const currencies = new Set([...(after?.keys() ?? []), ...(before?.keys() ?? [])]);
      const changed = [...currencies].flatMap((currency): Taken[] => {
        const amount = (after?.get(currency) ?? 0n) - (before?.get(currency) ?? 0n);
        return amount === 0n ? [] : [{ refund, purchase, amount, currency }];
      });
      // A refund that finds nothing left is one, too.
      const isIdle = isRefund(refund) && changed.length === 0;
      return isIdle ? [{ refund, purchase, amount: 0n, currency: currencyOf(refund) }] : changed;
    });
  });
  refundsOfHistory.set(all, found);
  return found;
}
/** Whether an event takes something of a purchase back, or puts it back. */
export const isCountedRefund = (event: Sent, all: Sent[]) =>
  refundsIn(all).some(({ refund }) => refund === event);

/** How many changes of what is taken back are of another currency than their purchase. */
export const foreignRefunds = (all: Sent[]) =>
  refundsIn(all).filter(({ purchase, currency }) => currency !== currencyOf(purchase)).length;

const refundsOfHistory = new WeakMap<Sent[], Taken[]>();

/**
 * The latest event that each device sends on each day; of those of one second, the one of the greatest versions. An event that arrives when
 * seven later days of its device are known comes too late to change a day.
 */
const lastOfDays = ofHistory((all) =>
  [...Map.groupBy(all, ({ device }) => device).values()].flatMap((own) => {
    const last = new Map<string, Sent>();
    for (const event of own) {
      const before = last.get(event.day);
      const isTooLate = [...last.keys()].filter((day) => day > event.day).length >= 7;
      if (!before || (!isTooLate && isAfter(event, before))) last.set(event.day, event);
    }
    return [...last.values()];
  }),
);

const isAfter = (event: Sent, before: Sent) =>
  second(event) > second(before) ||
  (second(event) === second(before) && versionsOf(event) > versionsOf(before));
const versionsOf = ({ version, sdk }: Sent) => `${version}\0${sdk}`;

/**
 * The first event of each session of a device that was sent: it counts as the session. What a device's sessions and its returns without
 * an id tell on one day are the same launches: the one that makes either kind's number of the day larger than both counts.
 */
const firstOfSessions = ofHistory((all) => {
  const seen = new Set<string>();
  const told = new Map<string, { sessions: number; returns: number }>();
  return all.filter((event) => {
    if (event.type !== 'retention') return false;
    const { session_id, session_start, session_end } = event.payload;
    const key = `${event.device}/${session_id}`;
    if (session_id ? seen.has(key) : session_end) return false;
    seen.add(key);
    const kind = session_start || session_end ? 'sessions' : session_id ? null : 'returns';
    if (kind === null) return true;
    const day = `${event.device}/${event.day}`;
    const before = told.get(day) ?? { sessions: 0, returns: 0 };
    const after = { ...before, [kind]: before[kind] + 1 };
    told.set(day, after);
    return Math.max(after.sessions, after.returns) > Math.max(before.sessions, before.returns);
  });
});

/** The first end of each session of a device that was sent: its length counts. */
const firstEnds = ofHistory((all) => {
  const ends = all.filter((event) => event.payload.session_end);
  return ends.filter(
    (event) =>
      !event.payload.session_id ||
      ends.find(
        (other) => other.device === event.device && other.payload.session_id === event.payload.session_id,
      ) === event,
  );
});

const number = (day: string) => Date.parse(`${day}T00:00:00Z`) / 86_400_000;
const age = (event: Sent) => Math.max(0, number(event.day) - number(event.acquired));

/** Retention of a cohort on day N, of the devices whose day N is over. */
export function retention(cohort: Sent[], day: number, today: string) {
  const over = cohort.filter((event) => number(today) - number(event.acquired) > day);
  const devices = (events: Sent[]) => distinct(events.map((event) => event.device));
  const eligible = devices(over);
  const active = devices(over.filter((event) => age(event) === day));
  const later = devices(over.filter((event) => age(event) >= day));
  const complete = eligible === devices(cohort);
  return { eligible, complete, active, classic: per(active, eligible), rolling: per(later, eligible) };
}

/** What events earned, each with its own amount; with `all` that was sent, also what was refunded of them, as amounts below 0. */
const earningsOf = (events: Sent[], all?: Sent[]): { of: Sent; amount: Amount }[] => [
  ...events.filter((event) => isAd(event) || isPaid(event)).map((of) => ({ of, amount: amountOf(of) })),
  ...(all ? refundsIn(all) : [])
    .filter(({ purchase }) => events.includes(purchase))
    .map((own) => ({ of: own.purchase, amount: takenOn(own.purchase, { ...own, amount: -own.amount }) })),
];

const isOverOn = (acquired: string, on: number, today: string) => number(today) - number(acquired) > on;

/** What the value of a cohort by day N lacks, because it cannot be converted. */
function lifetimeValueLacks(
  cohort: Sent[],
  costs: Amount[] | null,
  day: number,
  today: string,
  rateOn: RateOn,
) {
  const earned = cohort.filter((event) => isAd(event) || isPaid(event));
  const counts = (event: Sent) => isOverOn(event.acquired, age(event), today) && age(event) <= day;
  const spent = costs?.filter((cost) => isOverOn(cost.day, 0, today)) ?? [];
  return unconverted([...earned.filter(counts).map(amountOf), ...spent], rateOn);
}

/**
 * Lifetime value of a cohort by day N: for each day up to it, what the devices whose day is over earned on it, per device and of
 * what was spent on the days on which they were acquired. `days` are those that the report was asked for.
 */
export function lifetimeValue(
  cohort: Sent[],
  costs: Amount[] | null,
  day: number,
  today: string,
  rateOn: RateOn,
  days: readonly number[] = [day],
  all?: Sent[],
) {
  const isOver = (acquired: string, on: number) => isOverOn(acquired, on, today);
  const devicesOn = (on: number) =>
    distinct(cohort.filter((event) => isOver(event.acquired, on)).map((event) => event.device));
  const spentOn = (on: number) => costs?.filter((cost) => isOver(cost.day, on)) ?? [];
  const earned = earningsOf(cohort, all);
  // Spend is compared with what attributed devices earned.
  const paid = earningsOf(
    cohort.filter(({ creative }) => creative !== null),
    all,
  );
  const sumOf = (amounts: Amount[]) => {
    const sum = exactSum(amounts, rateOn);
    return Number(sum[0]) / Number(sum[1]) / 1e9;
  };
  const eligible = devicesOn(day);
  const revenueBy = (on: number, from = earned) =>
    money(
      from.filter(({ of }) => isOver(of.acquired, on) && age(of) <= on).map(({ amount }) => amount),
      rateOn,
    );
  const revenue = revenueBy(day);
  const lacking = lifetimeValueLacks(cohort, costs, day, today, rateOn);
  let [ltv, roas]: [number | null, number | null] = [0, 0];
  for (let on = 0; on <= day; on++) {
    const sumOn = (from: typeof earned) =>
      sumOf(from.filter(({ of }) => isOver(of.acquired, on) && age(of) === on).map(({ amount }) => amount));
    const ofDevices = per(sumOn(earned), devicesOn(on));
    const ofSpend = per(sumOn(paid), sumOf(spentOn(on)));
    ltv = ltv === null || ofDevices === null ? null : ltv + ofDevices;
    roas = roas === null || ofSpend === null ? null : roas + ofSpend;
    // The same devices until then: the ratio of the rounded amounts, which later days add to.
    if (!days.includes(on) || devicesOn(on) === 0 || devicesOn(on) !== devicesOn(0)) continue;
    ltv = per(revenueBy(on), devicesOn(on));
    if (spentOn(0).length === spentOn(on).length) roas = per(revenueBy(on, paid), money(spentOn(on), rateOn));
  }
  return {
    eligible,
    complete: eligible === distinct(cohort.map((event) => event.device)),
    revenue,
    ltv,
    roas: costs && roas,
    unconverted: eligible === 0 || lacking.length === 0 ? undefined : lacking,
  };
}

const COHORT_METRIC = /^(roas|ltv|roas_net|ltv_net|retention)_d(\d+)$/;

/**
 * Those of the metrics that are figures of a cohort: of all its devices, but ROAS of the attributed ones among them. `costs` are null if they are
 * not known.
 */
export function cohortMetrics(
  metrics: readonly string[],
  cohort: Sent[],
  costs: Amount[] | null,
  today: string,
  rateOn: RateOn,
  all: Sent[],
) {
  const asked = metrics.flatMap((metric) => {
    const [, figure = '', day = ''] = COHORT_METRIC.exec(metric) ?? [];
    return figure === '' ? [] : [{ metric, figure, day: Number(day) }];
  });
  const days = [...new Set(asked.map(({ day }) => day))].sort((left, right) => left - right);
  const paid = cohort.filter(({ creative }) => creative !== null);
  const netOf = (figure: string) => (figure.endsWith('_net') ? all : undefined);
  const has = (wanted: string) => asked.some(({ figure }) => figure === wanted);
  const lacksOf = has('ltv') ? cohort : has('roas') ? paid : null;
  const lacking =
    lacksOf && lifetimeValueLacks(lacksOf, has('roas') ? costs : null, days.at(-1) ?? 0, today, rateOn);
  const incomplete = days.filter((day) => !retention(cohort, day, today).complete);
  return {
    ...Object.fromEntries(
      asked.map(({ metric, figure, day }) => [
        metric,
        figure === 'retention'
          ? retention(cohort, day, today).classic
          : figure.startsWith('ltv')
            ? lifetimeValue(cohort, costs, day, today, rateOn, days, netOf(figure)).ltv
            : lifetimeValue(paid, costs, day, today, rateOn, days, netOf(figure)).roas,
      ]),
    ),
    incomplete_days: incomplete.length === 0 ? undefined : incomplete,
    cohort_unconverted: lacking === null || lacking.length === 0 ? undefined : lacking,
  };
}

/**
 * A walk through the raw events of each device: how many reach each step, the earliest of its kind at or after the one before,
 * and the median of the whole seconds in between. Within one second nothing is out of order.
 */
export function funnel(events: Sent[], steps: ((event: Sent) => boolean)[], windowMs: number) {
  const taken = steps.map((): number[] => []);
  for (const device of new Set(events.map((event) => event.device))) {
    const own = events
      .filter((event) => event.device === device)
      .toSorted((left, right) => left.at - right.at);
    let [first, previous] = [Number.NaN, Number.NEGATIVE_INFINITY];
    const used: Sent[] = [];
    for (const [index, isStep] of steps.entries()) {
      // A repeated step takes a further event.
      const found = own.find(
        (event) => isStep(event) && second(event) >= previous - 1 && !used.includes(event),
      );
      if (!found || second(found) > first + windowMs / 1000) break;
      used.push(found);
      const at = Math.max(second(found), previous);
      if (index === 0) first = at;
      taken[index]?.push(index === 0 ? 0 : at - previous);
      previous = at;
    }
  }
  return taken.map((seconds, index) => ({
    devices: seconds.length,
    median_seconds: index === 0 ? null : median(seconds),
  }));
}

const second = (event: Sent) => Math.floor(event.at / 1000);

function median(numbers: number[]): number | null {
  const sorted = numbers.toSorted((left, right) => left - right);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.length === 0 ? null : total(middle) / middle.length;
}

/** What cannot be converted, by currency. */
export function unconverted(amounts: Amount[], rateOn: RateOn) {
  const sums = new Map<string, bigint>();
  for (const { nanos: amount, currency, day } of amounts) {
    if (!rateOn(currency, day)) sums.set(currency, (sums.get(currency) ?? 0n) + amount);
  }
  return [...sums]
    .filter(([, sum]) => sum !== 0n)
    .sort()
    .map(([currency, sum]) => ({ currency, amount: Number(sum) / 1e9 }));
}

export const amountsOf = (events: Sent[]) =>
  events.filter((event) => isAd(event) || isPaid(event)).map(amountOf);

/** The value of one unit of each currency on a day; null if unknown. */
export type WorthOf = (currency: string) => number | null;

const devicesOf = (events: Sent[]) => [...Map.groupBy(events, (event) => event.device).values()];
const worth = (amounts: Amount[], worthOf: WorthOf) =>
  total(amounts.map((amount) => (Number(amount.nanos) / 1e9) * (worthOf(amount.currency) ?? 0)));

/** What was ever taken back of the purchases among these events, as amounts below 0. */
const takenBackOf = (events: Sent[], all: Sent[]): Amount[] =>
  refundsIn(all)
    .filter(({ purchase }) => events.includes(purchase))
    .map((own) => takenOn(own.refund, { ...own, amount: -own.amount }));

/**
 * What became of a cohort by day N: who came back on it, who had paid, and what each device had earned. With `all` that was sent, without what
 * was refunded of it.
 */
export function outcomes(cohort: Sent[], day: number, today: string, worthOf: WorthOf, all?: Sent[]) {
  const devices = devicesOf(cohort).filter(([first]) => number(today) - number(first?.acquired ?? '') > day);
  const has = (is: (event: Sent) => boolean) => devices.filter((own) => own.some(is)).length;
  const isEarning = (event: Sent) => (isAd(event) || isPaid(event)) && age(event) <= day;
  const earnedBy = (own: Sent[]) => {
    const events = own.filter(isEarning);
    return [...events.map(amountOf), ...(all ? takenBackOf(events, all) : [])];
  };
  return {
    eligible: devices.length,
    active: has((event) => age(event) === day),
    payers: has((event) => isPaid(event) && age(event) <= day),
    earned: devices.map((own) => worth(earnedBy(own), worthOf)),
    lacking: devices.flatMap(earnedBy).filter(({ currency }) => worthOf(currency) === null),
  };
}

type Outcomes = ReturnType<typeof outcomes>;

/** What two cohorts differ in by a day; shares with their 95 % Wald interval. */
export function comparison(a: Outcomes, b: Outcomes) {
  const sizes = { a_devices: a.eligible, b_devices: b.eligible };
  const share = (count: 'active' | 'payers') => ({
    ...sizes,
    a_count: a[count],
    b_count: b[count],
    ...differing(per(a[count], a.eligible), per(b[count], b.eligible)),
    ...intervalOf({ count: a[count], size: a.eligible }, { count: b[count], size: b.eligible }),
  });
  const mean = ({ earned }: Outcomes) => per(total(earned), earned.length);
  const lacking = unconverted([...a.lacking, ...b.lacking], () => null);
  return {
    retention: share('active'),
    conversion: share('payers'),
    arpu: {
      ...{ ...sizes, a_count: null, b_count: null, ...differing(mean(a), mean(b)) },
      unconverted: lacking.length === 0 ? undefined : lacking,
    },
  };
}

const differing = (a: number | null, b: number | null) => ({
  a,
  b,
  difference: a === null || b === null ? null : b - a,
});

type Proportion = { count: number; size: number };

/** Null where a side is empty, and where all or none did it on both sides. */
function intervalOf(a: Proportion, b: Proportion) {
  const [first, second] = [per(a.count, a.size), per(b.count, b.size)];
  if (first === null || second === null) return { low: null, high: null };
  if (first === second && (first === 0 || first === 1)) return { low: null, high: null };
  const variance = (first * (1 - first)) / a.size + (second * (1 - second)) / b.size;
  const margin = 1.959963984540054 * Math.sqrt(variance);
  return { low: second - first - margin, high: second - first + margin };
}

/**
 * What the prediction is fitted to: a device's repeats since its first purchase, or since when it has not purchased. Nothing can be said of devices
 * that have paid nothing but what has no rate.
 */
export function purchaseHistories(cohort: Sent[], today: string, worthOf: WorthOf) {
  type History = { x: number | null; tx: number | null; T: number };
  return devicesOf(cohort).flatMap((own): History[] => {
    const paid = own.filter(isPaid);
    const worth = paid.filter((event) => nanos(event) > 0n).map((event) => worthOf(currencyOf(event)));
    if (worth.length > 0 && worth.every((rate) => rate === null)) return [];
    const days = new Set(paid.map(age));
    const T = number(today) - number(own[0]?.acquired ?? '');
    if (days.size === 0) return [{ x: null, tx: null, T }];
    const first = Math.min(...days);
    return [{ x: days.size - 1, tx: Math.max(...days) - first, T: T - first }];
  });
}

/** What a cohort has brought so far, as the prediction begins with it: rounded like all money. */
export function brought(cohort: Sent[], worthOf: WorthOf, all?: Sent[]) {
  const [paid, ads] = [cohort.filter(isPaid), cohort.filter(isAd)];
  const back = all ? takenBackOf(cohort, all) : [];
  const sumOf = (amounts: Amount[]) => Math.round(worth(amounts, worthOf) * 1e9) / 1e9;
  const [purchased, shown] = [[...paid.map(amountOf), ...back], ads.map(amountOf)];
  const lacking = unconverted(
    [...amountsOf(cohort), ...back].filter(({ currency }) => worthOf(currency) === null),
    () => null,
  );
  return {
    size: devicesOf(cohort).length,
    payers: devicesOf(paid).length,
    purchase_revenue: sumOf(purchased),
    ad_revenue: sumOf(shown),
    revenue: sumOf([...purchased, ...shown]),
    unconverted: lacking.length === 0 ? undefined : lacking,
  };
}

/** Running totals of clients against what was counted of the same devices, in whole nanos. */
export function clientTotals(cohort: Sent[], kind: 'ad' | 'purchase') {
  const [type, field] =
    kind === 'ad' ? ['custom.ad', 'total_ad_value'] : ['custom.purchase', 'total_purchase_value'];
  const devices = devicesOf(cohort.filter((event) => event.type === type)).flatMap((own) => {
    const claims = own.flatMap(({ payload }) => (field && field in payload ? [Number(payload[field])] : []));
    if (claims.length === 0) return [];
    // An ad whose revenue is unknown has no currency.
    const currencies = new Set(own.map(currencyOf).filter((currency) => currency !== ''));
    const client = nanosIn(Math.max(...claims));
    const counted = own
      .filter((event) => isAd(event) || isPaid(event))
      .reduce((sum, event) => sum + nanos(event), 0n);
    const gap = client - counted;
    // Each event may be off by a millionth.
    const hasGap = (gap < 0n ? -gap : gap) > 1000n * BigInt(own.length);
    return [{ currency: currencies.size === 1 ? [...currencies].join() : null, client, counted, hasGap }];
  });
  const groups = Map.groupBy(devices, ({ currency }) => currency);
  const sumOf = (own: typeof devices, name: 'client' | 'counted') =>
    Number(own.reduce((sum, device) => sum + device[name], 0n)) / 1e9;
  const totals = [...groups].map(([currency, own]) => ({
    kind,
    currency,
    devices: own.length,
    devices_with_gap: currency && own.filter(({ hasGap }) => hasGap).length,
    client_total: currency && sumOf(own, 'client'),
    counted_total: currency && sumOf(own, 'counted'),
    gap: currency && sumOf(own, 'client') - sumOf(own, 'counted'),
  }));
  const gaps = devices
    .filter(({ currency, hasGap }) => currency !== null && hasGap)
    .map(({ currency, client, counted }) => ({ kind, currency, gap: Number(client - counted) / 1e9 }));
  return { totals, gaps };
}
