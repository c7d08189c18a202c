import { expect, it } from 'vitest';
import { iso } from '#lib/time';
import { envelope } from '../helpers/envelopes.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
const AUTHORIZATION = 'Bearer rc_0123456789abcdef';
const ADS = 150;
/** On a day of March. */
const at = (day: number, minute = 0) => ({
  created_at: iso(Date.UTC(2026, 2, day, 10, minute)),
});

async function withDevice() {
  const tenant = await createTenant({ store_fee: 0.2, revenuecat_authorization: AUTHORIZATION });
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const token = await fetchToken(worker, tenant, at(1));
  const send = async (events: object[]) => {
    const answer = await worker.post(tenant, '/webhook/batch', { events });
    expect(await answer.json()).toMatchObject({ accepted: events.length });
  };
  const open = async () => {
    await worker.deliver(worker.queue.take());
    await settleAll(tenant.application.id);
    const list = await pageOf(await browser.get('/debugger'));
    const href = [...list.links.values()].find((link) => link.startsWith('/debugger/device?')) ?? '';
    return pageOf(await browser.get(href));
  };
  return { tenant, token, send, open };
}

it('shows all that a device earned, however many events it sent', async () => {
  const { token, send, open } = await withDevice();
  const ads = Array.from({ length: ADS }, (_, index) => envelope.ad(token, at(2, index), { value: 0.1 }));
  for (let first = 0; first < ADS; first += 50) await send(ads.slice(first, first + 50));
  await send([
    envelope.purchase(token, at(5), { value: 10, tr_id: 't1' }),
    envelope.purchase(token, at(6), { value: 5, tr_id: 't2' }),
    envelope.purchase(token, at(7), { value: 5, tr_id: 't2', status: 'refunded' }),
    envelope.purchase(token, at(8), { value: 7, currency: 'xts', tr_id: 't3' }),
  ]);
  const card = (await open()).card('So far');
  // Ads of 15, and 80% of the 10 that are left of purchases.
  expect(card.figures).toEqual({
    'Ad revenue': '$15.00 *',
    Purchases: '$15.00 *',
    Refunds: '$5.00 *',
    'Net revenue': '$23.00 *',
    'Days active': '6',
  });
  expect(card.texts('.hint')).toEqual(['Not included, because there is no exchange rate: XTS 7.00 (XTS).']);
});

it('shows payments of a device that only a store told', async () => {
  const { tenant, token, send, open } = await withDevice();
  await send([envelope.purchase(token, at(5), { value: 10, tr_id: 't1' })]);
  await worker.deliver(worker.queue.take());
  await settleAll(tenant.application.id);
  const path = `/v1/applications/${tenant.application.id}/intake-secret`;
  const made = await worker.team(tenant, path, { method: 'POST', body: {} });
  const { intake_secret: secret } = await made.json<{ intake_secret: string }>();
  const renewed = await worker.request(`/stores/revenuecat/${secret}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: AUTHORIZATION },
    body: JSON.stringify({
      api_version: '1.0',
      event: {
        id: 'e1',
        type: 'RENEWAL',
        environment: 'PRODUCTION',
        purchased_at_ms: Date.UTC(2026, 2, 9),
        event_timestamp_ms: Date.UTC(2026, 2, 9),
        transaction_id: 't2',
        original_transaction_id: 't1',
        product_id: 'gold',
        currency: 'USD',
        price: 10,
        price_in_purchased_currency: 10,
        app_user_id: 'user_1',
      },
    }),
  });
  expect(renewed.status).toBe(200);
  expect((await open()).card('So far').figures).toMatchObject({
    'Ad revenue': '$0.00',
    Purchases: '$20.00',
    Refunds: '$0.00',
    'Net revenue': '$16.00',
  });
});
