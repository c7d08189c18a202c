import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { signClickId } from '#attribution';
import { clickIdAt } from '../helpers/click-rows.ts';
import { ANDROID_AGENT, follow, IPHONE_AGENT, measure, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// What is answered as usual, but recorded nowhere.

const worker = startWorker();

/** A link with a click on it that is signed as the link's own. */
async function clickedLink(application: Record<string, unknown> = {}) {
  const tenant = await createTenant({ ...STORES, ...application });
  const { path, id } = await createCreative(worker, tenant);
  const publicId = await signClickId(
    env.KEY_ENCRYPTION_SECRET,
    tenant.application.id,
    clickIdAt(Date.now()),
    id,
  );
  return { path, publicId };
}

it('records no measurement while collection is off', async () => {
  const on = await clickedLink();
  expect((await measure(worker, on.path, on.publicId)).messages).toHaveLength(1);
  const off = await clickedLink({ data_collection: false });
  expect(await measure(worker, off.path, off.publicId)).toEqual({ status: 204, messages: [] });
});

it('refuses a measurement of more than 2 KB', async () => {
  const { path, publicId } = await clickedLink();
  const measures = { more: 'x'.repeat(2_048) };
  expect(await measure(worker, path, publicId, { measures })).toEqual({ status: 413, messages: [] });
});

it('records no click or measurement of an address over its limit, but still redirects', async () => {
  const asked: string[] = [];
  const limited = startWorker({
    CLICK_LIMIT: {
      limit: async ({ key }) => {
        asked.push(key);
        return { success: key !== '203.0.113.66' };
      },
    },
  });
  const { path, publicId } = await clickedLink();
  const open = (agent: string, address: string) =>
    limited.request(path, {
      redirect: 'manual',
      headers: { 'User-Agent': agent, 'cf-connecting-ip': address },
    });
  const android = await open(ANDROID_AGENT, '203.0.113.66');
  expect(android.headers.get('Location')).toBe(STORES.android_store_url);
  expect((await open(IPHONE_AGENT, '203.0.113.66')).headers.get('Location')).toBe(STORES.ios_store_url);
  expect(await measure(limited, path, publicId, { address: '203.0.113.66' })).toEqual({
    status: 204,
    messages: [],
  });
  expect(limited.queue.take()).toEqual([]);
  expect((await follow(limited, path, ANDROID_AGENT)).messages).toHaveLength(1);
  expect((await measure(limited, path, publicId)).messages).toHaveLength(1);
  // Lookups of links are limited separately, under their own key.
  const clicks = asked.filter((key) => !key.startsWith('lookup:'));
  expect(new Set(clicks)).toEqual(new Set(['203.0.113.66', '203.0.113.9']));
});
