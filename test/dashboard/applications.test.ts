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
