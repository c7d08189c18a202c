import { expect, it } from 'vitest';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

it('shows the click of a device with the parameters of its link, and that it was used before', async () => {
  const tenant = await createTenant(STORES);
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const { path } = await createCreative(worker, tenant);
  const link = `${path}?sub_id=%3Cb%3E42&gclid=Cj0K`;
  const { publicId, messages } = await follow(worker, link, ANDROID_AGENT, '203.0.113.9', 'DE');
  await worker.deliver(messages);
  /** The page of an event of a new device, without its tags. */
  const pageOf = async (data: Record<string, unknown>) => {
    const answer = await worker.post(tenant, '/webhook', {
      type: 'custom',
      created_at: new Date().toISOString(),
      creativeToken: await fetchToken(worker, tenant, { data }),
      payload: { event_name: 'opened' },
    });
    const { event_id }: { event_id: string } = await answer.json();
    await worker.deliver(worker.queue.take());
    const page = await (await browser.get(`/debugger/event?id=${event_id}`)).text();
    expect(page).not.toContain('<b>42');
    return page.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  };

  const first = await pageOf({ click_id: publicId });
  expect(first).toMatch(/Clicked .* UTC in DE/);
  expect(first).toContain('Link parameters stored with the click');
  expect(first).toMatch(/sub_id &lt;b&gt;42 .*gclid Cj0K/);
  expect(first).not.toContain('Possible fraud');
  expect(await pageOf({ click_id: publicId })).toContain(
    'Possible fraud: 1 install had already used this click.',
  );
  expect(await pageOf({ click_id: publicId })).toContain(
    'Possible fraud: 2 installs had already used this click.',
  );
  const organic = await pageOf({});
  expect(organic).toContain('organic');
  expect(organic).not.toMatch(/Link parameters|Possible fraud|Clicked .* UTC in/);
});
