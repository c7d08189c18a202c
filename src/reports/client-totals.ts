import * as z from 'zod';
import { sumClientTotals } from '#counting';
import { amountField } from '#lib/money';
import { deviceFilterOf } from './payers.ts';
import { checkPeriod, filtersOf, period, type Reported } from './query.ts';

export const ClientTotalsQuery = z.object(period).superRefine(checkPeriod);
export type ClientTotalsQuery = z.infer<typeof ClientTotalsQuery>;

function amounts({ client, counted }: { client: string | null; counted: string | null }) {
  if (client === null || counted === null) return { client_total: null, counted_total: null, gap: null };
  return {
    ...amountField('client_total', BigInt(client)),
    ...amountField('counted_total', BigInt(counted)),
    ...amountField('gap', BigInt(client) - BigInt(counted)),
  };
}

/**
 * Compares the running totals that clients keep (`total_ad_value`, `total_purchase_value`) with what was counted for the same devices, acquired
 * from `from` to `to`. A positive gap is revenue that never arrived; a negative gap was sent twice without a key. `data` has the 200 devices with
 * the largest gaps, `totals` every kind and currency.
 */
export async function reportClientTotals(env: Env, application: Reported, query: ClientTotalsQuery) {
  const filter = await deviceFilterOf(env.DB, application.id, filtersOf(query));
  const cohort = { from: query.from, to: query.to };
  const { totals, gaps } = await sumClientTotals(env, application, cohort, filter);
  return {
    data: gaps.map((gap) => ({
      device_id: gap.deviceId,
      kind: gap.kind,
      currency: gap.currency,
      ...amounts(gap),
    })),
    totals: totals.map((total) => ({
      kind: total.kind,
      currency: total.currency,
      devices: total.devices,
      devices_with_gap: total.currency === null ? null : total.devicesWithGap,
      ...amounts(total),
    })),
    timezone: application.timezone,
  };
}
