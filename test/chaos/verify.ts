import type { JournalClient, Kind, Tenant } from './client.ts';
import type { ChaosReceiver } from './receiver.ts';
import { deliveryFaults } from './verify-deliveries.ts';

export type Verdict = {
  sent: number;
  acknowledged: number;
  /** Of those that were never acknowledged, how many were counted all the same: they had reached the queue. */
  countedWithoutWord: number;
  devices: number;
  /** Events that the destination's receiver took. */
  delivered: number;
  faults: Record<string, number>;
  /** What must not be: events lost, counted twice or of another amount, devices lost or counted twice; the same of what was delivered. */
  violations: string[];
};

type Row = Record<string, unknown>;
type Report = { data: Row[]; totals: Record<string, number> };

/** By kind of event: the report's grouping, and its columns of how often and how much. */
const READ: Record<Kind, { groupBy: string; count: string; amount: string | null }> = {
  custom: { groupBy: 'event_name', count: 'events', amount: null },
  ad: { groupBy: 'placement', count: 'impressions', amount: 'ad_revenue' },
  purchase: { groupBy: 'item', count: 'purchases', amount: 'purchase_revenue' },
};

async function report(url: string, tenant: Tenant, groupBy: string, q = ''): Promise<Report> {
  const query = `application_id=${tenant.applicationId}&from=2026-03-01&to=2026-03-01&group_by=${groupBy}&q=${q}`;
  const response = await fetch(`${url}/v1/reports/performance?${query}`, {
    headers: { 'Service-Token': tenant.teamToken },
  });
  if (!response.ok) throw new Error(`the report answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Report;
}

/** The rows of all names that were sent: a report has at most a thousand, as many as share a beginning. */
async function rowsOf(url: string, tenant: Tenant, groupBy: string, names: Iterable<string>): Promise<Row[]> {
  const rows: Row[] = [];
  for (const beginning of new Set(Array.from(names, (name) => name.slice(0, -3)))) {
    const { data } = await report(url, tenant, groupBy, beginning);
    rows.push(...data.filter((row) => !row.is_other));
  }
  return rows;
}

/** Compares the reports with the client's own journal, event by event. */
export async function verify(
  url: string,
  tenant: Tenant,
  { client, receiver }: { client: JournalClient; receiver: ChaosReceiver | null },
  faults: Record<string, number>,
): Promise<Verdict> {
  const violations: string[] = [];
  const counted = new Map<string, { times: number; nanos: number }>();
  let [acknowledged, countedWithoutWord] = [0, 0];
  for (const kind of ['custom', 'ad', 'purchase'] as const) {
    const { groupBy, count, amount } = READ[kind];
    const found = await rowsOf(url, tenant, groupBy, client.journal.keys());
    const rows = new Map(found.map((row) => [row[groupBy], row]));
    for (const [name, entry] of client.journal) {
      if (entry.kind !== kind) continue;
      const row = rows.get(name);
      rows.delete(name);
      const times = Number(row?.[count] ?? 0);
      if (entry.acknowledged) acknowledged++;
      else countedWithoutWord += times;
      if (times > 1 || (entry.acknowledged && times !== 1)) {
        violations.push(
          `${name} (${entry.acknowledged ? '' : 'not '}acknowledged) was counted ${times} times`,
        );
      } else if (times === 1 && amount && Math.round(Number(row?.[amount]) * 1e9) !== entry.nanos) {
        violations.push(`${name} was counted with ${row?.[amount]} instead of ${entry.nanos} billionths`);
      }
      if (kind !== 'custom') counted.set(name, { times, nanos: entry.nanos });
    }
    const { totals } = await report(url, tenant, groupBy);
    const sum = found.reduce((before, row) => before + Number(row[count]), 0);
    if (totals[count] !== sum) violations.push(`${totals[count]} ${count} in all, ${sum} by name`);
    for (const [name, row] of rows) {
      if (Number(row[count]) > 0) violations.push(`${String(name)} was counted but never sent`);
    }
  }
  const known = [...client.devices.values()].filter((answered) => answered).length;
  const { installs = 0 } = (await report(url, tenant, 'day')).totals;
  if (installs < known || installs > client.devices.size) {
    violations.push(`${installs} installs of ${known} to ${client.devices.size} devices`);
  }
  if (receiver) violations.push(...deliveryFaults(receiver, counted, installs));
  return {
    sent: client.journal.size,
    acknowledged,
    countedWithoutWord,
    devices: client.devices.size,
    delivered: receiver?.received.size ?? 0,
    faults,
    violations,
  };
}
