import { expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

async function withSearch() {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  const { id: app } = tenant.application;
  const search = async (q: string) =>
    pageOf(await browser.get(`/search?app=${app}&q=${encodeURIComponent(q)}`));
  return { tenant, app, search };
}

it('finds creatives, ad sets, campaigns and pages by a part of their name', async () => {
  const { tenant, app, search } = await withSearch();
  const { id } = await createCreative(worker, tenant, {
    creative: 'Dragon',
    campaign: 'Dragons',
    adset: 'A',
  });
  const found = await search('DRAG');
  expect(found.texts('.found li')).toEqual(['Dragon Dragons › A Creative', 'Dragons Campaign']);
  expect(found.link('Dragon Dragons › A Creative')).toBe(`/creatives/${id}?app=${app}`);
  expect((await search('reten')).texts('.found li')).toEqual(['Retention Understand Page']);
  expect((await search('nothing like it')).texts('.card p')).toEqual([
    'Nothing in Test game matches “nothing like it”.',
  ]);
});

it('finds a device by its id and by its token, but not another team’s', async () => {
  const { tenant, app, search } = await withSearch();
  const token = await fetchToken(worker, tenant);
  await worker.deliver(worker.queue.take());
  const [byToken] = (await search(token)).all('.found a');
  const href = byToken?.getAttribute('href') ?? '';
  expect(href).toContain(`/debugger/device?app=${app}&device_id=`);
  const id = new URLSearchParams(href.split('?')[1]).get('device_id') ?? '';
  expect((await search(id)).all('.found a').map((link) => link.getAttribute('href'))).toEqual([href]);
  const other = await withSearch();
  for (const q of [token, id]) expect((await other.search(q)).texts('.found li')).toEqual([]);
});

it('leads to an event by its id', async () => {
  const { app, search } = await withSearch();
  const id = `evt_${'0'.repeat(11)}1${'7'}${'0'.repeat(3)}8${'0'.repeat(15)}`;
  expect((await search(id)).all('.found a').map((link) => link.getAttribute('href'))).toEqual([
    `/debugger/event?app=${app}&id=${id}`,
  ]);
});
