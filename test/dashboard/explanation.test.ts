import { expect, it } from 'vitest';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

it('shows a device’s click with its link parameters, and whether it was used before', async () => {
  const tenant = await createTenant(STORES);
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const { path } = await createCreative(worker, tenant);
  const link = `${path}?sub_id=%3Cb%3E42&gclid=Cj0K`;
  const { publicId, messages } = await follow(worker, link, ANDROID_AGENT, '203.0.113.9', 'DE');
  await worker.deliver(messages);
  /** The page of an event of a new device. */
  const pageOfEvent = async (data: Record<string, unknown>) => {
    const answer = await worker.post(tenant, '/webhook', {
      type: 'custom',
      created_at: new Date().toISOString(),
      creativeToken: await fetchToken(worker, tenant, { data }),
      payload: { event_name: 'opened' },
    });
    const { event_id }: { event_id: string } = await answer.json();
    await worker.deliver(worker.queue.take());
    const page = await pageOf(await browser.get(`/debugger/event?id=${event_id}`));
    expect(page.all('main b')).toEqual([]);
    return page;
  };
  const click = expect.stringMatching(/^Clicked \d+ \w+, [\d:]+ in Germany$/);

  const first = await pageOfEvent({ click_id: publicId });
  expect(first.card('Attribution').texts('p')).toEqual([
    'Click id, creative Creative, confidence 100%. Your backend named a click within the attribution window.',
    'Not checked, because too little is known: Click after the installation began; Google Play saw another click.',
    'Country: Germany, from the credited click',
    click,
  ]);
  expect(first.table('Link parameters stored with the click').rows).toEqual([
    ['sub_id', '<b>42'],
    ['gclid', 'Cj0K'],
  ]);
  const fast = expect.stringMatching(
    /^Doubtful install: the app was first opened \d s after the click, sooner than 10 s\.$/,
  );
  expect(first.notices).toEqual([fast]);
  expect((await pageOfEvent({ click_id: publicId })).notices).toEqual([
    fast,
    'Doubtful install: 1 install had already used this click. One click normally brings one install.',
  ]);
  expect((await pageOfEvent({ click_id: publicId })).notices).toEqual([
    fast,
    'Doubtful install: 2 installs had already used this click. One click normally brings one install.',
  ]);
  const organic = await pageOfEvent({});
  expect(organic.card('Attribution').texts('p')).toEqual([
    'Organic, confidence 100%. No click was named, and none was similar enough to this device.',
    'Country: unknown',
    'There were no candidate clicks.',
  ]);
  expect([organic.tables, organic.notices]).toEqual([[], []]);
});
