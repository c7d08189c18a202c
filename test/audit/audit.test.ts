import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { auditStatement, listAudit } from '#audit';
import { database } from '#db';

import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

it('records nothing that was refused', async () => {
  const worker = startWorker();
  const [tenant, stranger] = [await createTenant(), await createTenant()];
  const path = `/v1/applications/${tenant.application.id}/api-key`;
  const log = (team: { id: string }) => listAudit(database(env.DB), team.id, { limit: 20 });
  expect((await worker.team(stranger, path, { method: 'POST', body: {} })).status).toBe(404);
  expect([await log(stranger.team), await log(tenant.team)]).toEqual([[], []]);
  expect((await worker.team(tenant, path, { method: 'POST', body: { grace_hours: 99 } })).status).toBe(400);
  expect(await log(tenant.team)).toEqual([]);
  expect((await worker.team(tenant, path, { method: 'POST', body: {} })).status).toBe(201);
  expect((await log(tenant.team)).map(({ action }) => action)).toEqual(['api_key.regenerated']);
  expect(await log(stranger.team)).toEqual([]);
});

it('lists the log page by page, newest first', async () => {
  const { team } = await createTenant();
  const db = database(env.DB);
  for (const subject of ['a', 'b', 'c']) {
    await auditStatement({ db, team, actor: 'me', now: 1 }, 'costs.uploaded', subject);
  }
  const page = await listAudit(db, team.id, { limit: 2 });
  expect(page.map(({ subject }) => subject)).toEqual(['c', 'b']);
  const rest = await listAudit(db, team.id, { limit: 2, before: page.at(-1)?.id ?? '' });
  expect(rest.map(({ subject }) => subject)).toEqual(['a']);
});

it('cuts a subject that lists more than fits', async () => {
  const { team } = await createTenant();
  const db = database(env.DB);
  await auditStatement({ db, team, actor: 'me', now: 1 }, 'costs.uploaded', "'😀".repeat(50_000));
  const [{ subject } = { subject: '' }] = await listAudit(db, team.id, { limit: 1 });
  expect([...subject]).toHaveLength(5_000);
});

it.each([
  [99, false],
  [100, true],
])('links older entries if there are more than fit: %i beside the first', async (more, isLinked) => {
  const worker = startWorker();
  const { team } = await createTenant();
  const db = database(env.DB);
  const admin = await signedIn(worker, team, 'admin');
  const own = await listAudit(db, team.id, { limit: 10 });
  for (let count = own.length; count <= more; count++) {
    await auditStatement({ db, team, actor: 'me', now: 1 }, 'costs.uploaded', String(count));
  }
  const text = await (await admin.get('/settings/audit')).text();
  expect(text.includes('>Older<')).toBe(isLinked);
});
