import { DAY_MS } from '#lib/time';
import { type SimulatedDevice, type SimulatedEvent, timeOf } from './history.ts';
import type { Random } from './random.ts';

const WEEK_MS = 7 * DAY_MS;
/** Of purchases, how many customer support gives back; of payers, how many try a subscription; of these, how many renew each week. */
const REFUNDED_SHARE = 0.05;
const TRIAL_SHARE = 0.4;
const RENEWING_SHARE = 0.7;
const SUBSCRIPTION = { product_id: 'weekly_pass', price: 4.99, currency: 'USD' };

/** An event of RevenueCat. */
export type SimulatedStoreEvent = { id: string; type: string } & Record<string, unknown>;

/** What stores tell of a device until `now`: refunds of purchases that its client sent, and a subscription that only stores tell of. */
export function simulateStoreEvents(
  random: Random,
  device: SimulatedDevice,
  events: readonly SimulatedEvent[],
  now: number,
): SimulatedStoreEvent[] {
  const told: SimulatedStoreEvent[] = [];
  const tell = (type: string, at: number, more: Record<string, unknown>) => {
    if (at > now) return;
    told.push({
      ...{ id: `${device.id}-store-${told.length}`, type, environment: 'PRODUCTION', app_user_id: device.id },
      ...{ purchased_at_ms: at, event_timestamp_ms: at, period_type: 'NORMAL', ...more },
    });
  };
  const purchases = events
    .map((event) => ({ at: timeOf(event), payload: event.payload as Record<string, unknown> }))
    .filter(({ payload }) => payload.status === 'completed');
  for (const { at, payload } of purchases) {
    if (!random.chance(REFUNDED_SHARE)) continue;
    tell('CANCELLATION', at + Math.floor(random.between(1, 5) * DAY_MS), {
      ...{ cancel_reason: 'CUSTOMER_SUPPORT', transaction_id: payload.tr_id, product_id: payload.item_id },
      ...{ price_in_purchased_currency: -Number(payload.value), currency: payload.currency },
    });
  }
  if (purchases.length > 0 && random.chance(TRIAL_SHARE)) subscribe();
  return told;

  function subscribe(): void {
    const first = `${device.id}-pass`;
    const { price: _, ...product } = SUBSCRIPTION;
    const trial = { ...product, period_type: 'TRIAL', price: 0, price_in_purchased_currency: 0 };
    tell('INITIAL_PURCHASE', device.acquiredAt, { ...trial, transaction_id: first });
    for (let week = 1; random.chance(RENEWING_SHARE); week++) {
      tell('RENEWAL', device.acquiredAt + week * WEEK_MS, {
        ...{ ...SUBSCRIPTION, price_in_purchased_currency: SUBSCRIPTION.price },
        ...{ transaction_id: `${first}..${week}`, original_transaction_id: first },
      });
    }
  }
}
