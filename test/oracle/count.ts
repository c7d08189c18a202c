import { daysBetween } from '#lib/time';

// The independent count: what the reports must say, computed naively from a journal of what was sent. It shares no code with
// the rollups, and the days are those that the journal's times have in UTC.

export type Sent = {
  device: string;
  acquiredDay: string;
  body: { type: string; created_at: string; payload: Record<string, unknown> };
  /** What makes two requests one event; undefined where each request is its own. */
  identity: string | undefined;
};

/** The first of each identity, in the order of sending. */
export function unique(sent: readonly Sent[]): Sent[] {
  const seen = new Set<string>();
  return sent.filter(({ identity }) => {
    if (identity === undefined) return true;
    if (seen.has(identity)) return false;
    seen.add(identity);
    return true;
  });
}

const dayOf = ({ body }: Sent) => body.created_at.slice(0, 10);
const isSuccess = ({ body }: Sent) =>
  body.type === 'custom.purchase' && ['completed', 'success'].includes(String(body.payload.status));
const distinct = (keys: string[]) => new Set(keys).size;
const sum = (amounts: number[]) =>
  amounts.reduce((total, amount) => total + Math.round(amount * 1e9), 0) / 1e9;
const valuesIn = (events: Sent[], currency: string) =>
  sum(
    events
      .filter(({ body }) => body.payload.currency === currency)
      .map(({ body }) => Number(body.payload.value)),
  );

/** Totals of the performance report over all days; amounts are those in US dollars. */
export function countTotals(journal: readonly Sent[], devices: { device: string; acquiredDay: string }[]) {
  const events = unique(journal);
  const of = (type: string) => events.filter(({ body }) => body.type === type);
  const paid = of('custom.purchase').filter(isSuccess);
  const sessions = of('retention').map(
    ({ device, body }, index) => `${device}/${body.payload.session_id ?? `none ${index}`}`,
  );
  return {
    installs: devices.length,
    active_device_days: distinct([
      ...devices.map(({ device, acquiredDay }) => `${device}/${acquiredDay}`),
      ...events.map((event) => `${event.device}/${dayOf(event)}`),
    ]),
    sessions: distinct(sessions),
    impressions: of('custom.ad').length,
    ad_revenue: valuesIn(of('custom.ad'), 'usd'),
    purchases: paid.length,
    failed_purchases: of('custom.purchase').filter(({ body }) => body.payload.status === 'failed').length,
    payers: distinct(paid.map((event) => event.device)),
    purchase_revenue: valuesIn(paid, 'usd'),
    events: of('custom').length,
    unconverted_eur: valuesIn([...of('custom.ad'), ...paid], 'eur'),
  };
}

/** Classic and rolling counts of day N. The journal reports no day numbers of its own. */
export function countRetention(
  journal: readonly Sent[],
  devices: { device: string; acquiredDay: string }[],
  day: number,
) {
  const ages = new Map(devices.map(({ device }) => [device, new Set([0])]));
  for (const event of unique(journal))
    ages.get(event.device)?.add(Math.max(0, daysBetween(event.acquiredDay, dayOf(event))));
  const all = [...ages.values()];
  return {
    eligible: devices.length,
    active: all.filter((active) => active.has(day)).length,
    rolling: all.filter((active) => Math.max(...active) >= day).length / devices.length,
  };
}
