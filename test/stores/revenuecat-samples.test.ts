import { expect, it } from 'vitest';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// What RevenueCat's ten published samples say, in their order (docs/integrations/webhooks/sample-events): the event, its price in US dollars and in
// the currency of the payment. Each is sent as a webhook; `net_revenue` of the report is what it comes to.

const worker = startWorker();
const AUTHORIZATION = 'Bearer rc_0123456789abcdef';
const COMMON = {
  ...{ id: 'sample', environment: 'PRODUCTION', period_type: 'NORMAL', currency: 'USD' },
  ...{
    purchased_at_ms: Date.parse('2026-03-02T10:00:00Z'),
    event_timestamp_ms: Date.parse('2026-03-04T10:00:00Z'),
  },
  ...{
    transaction_id: '123456789012345',
    original_transaction_id: '123456789012345',
    is_family_share: false,
  },
  ...{ app_user_id: '1234567890', original_app_user_id: '$RCAnonymousID:1', aliases: ['$RCAnonymousID:2'] },
  ...{ product_id: 'com.subscription.weekly', tax_percentage: 0, commission_percentage: 0.3 },
};
const priced = (price: number, own = price) => ({ price, price_in_purchased_currency: own });
const NO_PRICE = { price: undefined, price_in_purchased_currency: undefined };
const PAID = { id: 'paid', type: 'INITIAL_PURCHASE', ...priced(9.99) };

it.each<[sample: number, event: object, net: number, before?: object]>([
  [1, { type: 'INITIAL_PURCHASE', ...priced(4.99) }, 4.99],
  [2, { type: 'RENEWAL', ...priced(8.14, 7.99), currency: 'EUR' }, 7.99],
  [3, { type: 'CANCELLATION', cancel_reason: 'UNSUBSCRIBE', ...priced(0) }, 0],
  [4, { type: 'UNCANCELLATION', ...priced(0) }, 0],
  [5, { type: 'NON_RENEWING_PURCHASE', ...priced(25.487, 32.99), currency: 'CAD' }, 32.99],
  [6, { type: 'SUBSCRIPTION_PAUSED', ...priced(0) }, 0],
  [7, { type: 'BILLING_ISSUE', ...priced(0) }, 0],
  // A transfer between customers names no transaction.
  [8, { type: 'TRANSFER', transaction_id: undefined, app_user_id: undefined, ...NO_PRICE }, 0],
  // It gives back a payment, which has to be known.
  [9, { type: 'CANCELLATION', cancel_reason: 'CUSTOMER_SUPPORT', ...priced(-9.99) }, -9.99, PAID],
  [9, { type: 'CANCELLATION', cancel_reason: 'CUSTOMER_SUPPORT', ...priced(-9.99) }, 0],
  [10, { type: 'PRODUCT_CHANGE', new_product_id: 'com.subscription.yearly', ...priced(0) }, 0],
])('adds what sample %i says to the net revenue: %j %d', async (_, sample, net, before) => {
  const event = { ...COMMON, ...sample };
  const tenant = await createTenant({ revenuecat_authorization: AUTHORIZATION });
  const { id } = tenant.application;
  const created = await worker.team(tenant, `/v1/applications/${id}/intake-secret`, {
    method: 'POST',
    body: {},
  });
  const { intake_secret: secret } = await created.json<{ intake_secret: string }>();
  const send = async (told: object) => {
    const answer = await worker.request(`/stores/revenuecat/${secret}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: AUTHORIZATION },
      body: JSON.stringify({ api_version: '1.0', event: told }),
    });
    expect(answer.status).toBe(200);
  };
  const netRevenue = async () => {
    await worker.deliver(worker.queue.take());
    await settleAll(id);
    const query = `application_id=${id}&from=2026-03-01&to=2026-03-31&group_by=month&currency=${event.currency.toLowerCase()}`;
    const report = await worker.team(tenant, `/v1/reports/performance?${query}`);
    return (await report.json<{ totals: { net_revenue: number } }>()).totals.net_revenue;
  };
  if (before) await send({ ...COMMON, ...before });
  const earlier = await netRevenue();
  await send(event);
  expect((await netRevenue()) - earlier).toBeCloseTo(net, 9);
});
