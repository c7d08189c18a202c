import { expect, it, vi } from 'vitest';
import { APPLE_AD, appleAnswers, deliverAll, fetchIphone } from '../attribution/apple-ads.ts';
import { META_REFERRER } from '../attribution/meta-vector.ts';
import { ANDROID_AGENT, follow, IPHONE_AGENT, measure, STORES } from '../helpers/clicks.ts';
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
    'Not checked, because too little is known: Click after the installation began; Google Play saw another click; Creative with click flooding.',
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

it('shows what Apple answered, with the ids of the ad and what it replaced', async () => {
  const tenant = await createTenant({ ...STORES, apple_ads: true });
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const pageAfter = async (...answers: Parameters<typeof appleAnswers>) => {
    appleAnswers(...answers);
    const token = await fetchIphone(worker, tenant, { ip: '203.0.113.9' });
    await deliverAll(worker, worker.queue.take());
    const body = {
      type: 'custom',
      created_at: new Date().toISOString(),
      creativeToken: token,
      payload: { event_name: 'opened' },
    };
    const answer = await worker.post(tenant, '/webhook', body);
    const { event_id } = await answer.json<{ event_id: string }>();
    await worker.deliver(worker.queue.take());
    vi.restoreAllMocks();
    return pageOf(await browser.get(`/debugger/event?id=${event_id}`));
  };
  const unknown = await pageAfter(APPLE_AD);
  expect(unknown.card('Attribution').texts('p').slice(0, 2)).toEqual([
    'Apple Ads, confidence 100%. Apple attributed the install to an ad of Apple Ads.',
    'No creative, ad set or campaign has an ID of the ad.',
  ]);
  expect(unknown.table('The ad, as Apple names it').rows).toContainEqual(['Ad ID', '542317136']);
  const { path } = await createCreative(worker, tenant, {
    external_ids: [{ network: 'apple_ads', id: String(APPLE_AD.adId) }],
  });
  const click = await follow(worker, path, IPHONE_AGENT);
  const measured = await measure(worker, path, click.clickId);
  await worker.deliver([...click.messages, ...measured.messages]);
  const known = await pageAfter(APPLE_AD);
  expect(known.card('Attribution').texts('p').slice(0, 3)).toEqual([
    'Apple Ads, creative Creative, confidence 100%. Apple attributed the install to an ad of Apple Ads.',
    expect.stringContaining('Not checked'),
    'Before Apple answered, it was attributed to creative Creative (Probabilistic match).',
  ]);
  for (const [answer, text] of [
    [{ attribution: false }, 'Apple did not attribute the install to an ad of Apple Ads.'],
    [400, 'Apple refused the AdServices token, so it is unknown whether the install is from Apple Ads.'],
    [
      404,
      'Apple had no answer for the AdServices token, so it is unknown whether the install is from Apple Ads.',
    ],
  ] as const) {
    expect((await pageAfter(answer)).card('Attribution').texts('p')).toContain(text);
  }
});

it('shows the ad that Meta named, and what Google Play reported, in the zone of the application', async () => {
  const tenant = await createTenant({
    ...STORES,
    timezone: 'Asia/Tokyo',
    meta_referrer_key: META_REFERRER.key,
  });
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const cardOf = async (data: Record<string, unknown>) => {
    const answer = await worker.post(tenant, '/webhook', {
      type: 'custom',
      created_at: new Date().toISOString(),
      creativeToken: await fetchToken(worker, tenant, { data }),
      payload: { event_name: 'opened' },
    });
    const { event_id } = await answer.json<{ event_id: string }>();
    await worker.deliver(worker.queue.take());
    return pageOf(await browser.get(`/debugger/event?id=${event_id}`));
  };
  const ofMeta = async () => {
    const page = await cardOf({ install_referrer: META_REFERRER.referrer });
    return { text: page.card('Attribution').texts('p'), rows: page.table('The ad, as Meta names it').rows };
  };
  const unknown = 'No creative, ad set or campaign has an ID of the ad.';
  const first = await ofMeta();
  expect(first.text).toContain(unknown);
  expect(first.rows).toEqual([
    ['Campaign', 'Test Campaign', '23854855793350700'],
    ['Ad set', 'AdSet1', '23854855793420700'],
    ['Ad', 'Ad1', '23854855793500700'],
  ]);
  await createCreative(worker, tenant, { external_ids: [{ network: 'meta', id: '23854855793500700' }] });
  const second = await ofMeta();
  expect(second.rows).toEqual(first.rows);
  expect(second.text).not.toContain(unknown);

  const at = Date.parse('2026-03-02T20:00:05Z') / 1000;
  const play = await cardOf({
    install_referrer: 'gclid=Cj0K',
    referrer_click_timestamp_seconds: at - 3600,
    referrer_click_timestamp_server_seconds: at,
    install_begin_timestamp_seconds: at + 60,
  });
  const saw = play.card('Attribution').texts('p');
  expect(saw).toContain('The install referrer has a click ID of Google (gclid).');
  expect(saw).toContain('Google Play saw a click 3 Mar, 05:00:05.');
  expect(saw).toContain('Google Play began the installation 3 Mar, 05:01:05.');
  const foreign = await cardOf({ install_referrer: 'rdt_cid=x' });
  expect(foreign.card('Attribution').texts('p').join()).toContain('an unknown network (rdt_cid)');
});
