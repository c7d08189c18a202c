import { expect, it } from 'vitest';
import { Page, pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

it('deletes an application once its name is typed, and records it', async () => {
  const tenant = await createTenant();
  const admin = await signedIn(worker, tenant.team, 'admin');
  const { id, name } = tenant.application;
  const path = `/settings/applications/${id}`;
  expect((await pageOf(await admin.get(path))).cards).toContain('Delete application');

  for (const typed of ['', `${name}s`]) {
    const refused = await admin.post(`${path}/delete`, { delete_name: typed });
    expect(refused.status).toBe(400);
    expect((await pageOf(refused)).faults).toEqual({
      delete_name: 'Application name must be exactly Test game',
    });
  }
  expect((await admin.get(path)).status).toBe(200);

  const deleted = await admin.post(`${path}/delete`, { delete_name: ` ${name} ` });
  expect([deleted.status, deleted.headers.get('Location')]).toEqual([
    303,
    '/settings/applications?done=deleted_application',
  ]);
  const html = await (await admin.get('/settings/applications?done=deleted_application')).text();
  expect(html).not.toContain(id);
  const list = new Page(html);
  expect(list.notices).toEqual(['Deleted. Its data is removed in the background.']);
  expect(list.tables).toEqual([]);
  expect((await admin.get(path)).status).toBe(404);
  const log = await pageOf(await admin.get('/settings/audit'));
  expect(log.cells('Audit log', 'What', 'Details')).toEqual([['Deleted an application', `${name} (${id})`]]);
});

it('lets neither a viewer nor another team delete an application', async () => {
  const tenant = await createTenant();
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  const path = `/settings/applications/${tenant.application.id}`;
  const fields = { delete_name: tenant.application.name };
  expect((await pageOf(await viewer.get(path))).cards).toEqual(['Settings']);
  expect((await viewer.post(`${path}/delete`, fields)).status).toBe(403);
  expect((await stranger.post(`${path}/delete`, fields)).status).toBe(404);
  expect((await viewer.get(path)).status).toBe(200);
});

it('saves the app’s identities and Meta’s key, which it never shows', async () => {
  const tenant = await createTenant();
  const admin = await signedIn(worker, tenant.team, 'admin');
  const path = `/settings/applications/${tenant.application.id}`;
  const print = Array.from({ length: 32 }, () => 'AB').join(':');
  const fields = {
    name: tenant.application.name,
    timezone: 'UTC',
    currency: 'USD',
    data_collection: 'on',
    attribution_window_hours: '168',
    probabilistic_window_hours: '24',
    view_through_window_hours: '24',
    apple_app_id_prefix: 'ABCDE12345',
    apple_bundle_id: 'com.example.game',
    android_fingerprints: `${print.toLowerCase()}, ${print}`,
  };
  const key = 'ab'.repeat(32);
  const refused = await admin.post(path, { ...fields, meta_referrer_key: 'abc', apple_bundle_id: 'a b' });
  expect((await pageOf(refused)).faults).toEqual({
    apple_bundle_id: 'iOS bundle ID must be a bundle id, such as com.example.game',
    meta_referrer_key: 'Meta install referrer decryption key must be 64 hexadecimal digits',
  });
  const stored = async () =>
    (await worker.team(tenant, `/v1/applications/${tenant.application.id}`)).json<Record<string, unknown>>();
  for (const changes of [{ meta_referrer_key: key }, {}]) {
    expect((await admin.post(path, { ...fields, ...changes })).status).toBe(303);
    expect(await stored()).toMatchObject({
      apple_app_id_prefix: 'ABCDE12345',
      apple_bundle_id: 'com.example.game',
      android_fingerprints: [print, print],
      meta_referrer_key_set: true,
    });
  }
  const page = await (await admin.get(path)).text();
  expect(page).not.toContain(key);
  expect(page).toContain('Set. From the app’s settings at Meta');
});
