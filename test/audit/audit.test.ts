import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { auditStatement, listAudit, newAuditEntry } from '#audit';
import { database } from '#db';

import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

it('names the access token behind what the team API did to keys, applications, devices and parked messages', async () => {
  const worker = startWorker();
  const tenant = await createTenant();
  const { id } = tenant.application;
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await worker.team(tenant, path, { method, body });
    expect(answer.ok).toBe(true);
    return (await answer.json()) as Record<string, unknown>;
  };
  const made = await call('POST', '/v1/applications', { name: 'Chess' });
  await call('PATCH', `/v1/applications/${id}`, { name: 'Renamed' });
  await call('POST', `/v1/applications/${id}/api-key`, { grace_hours: 1 });
  const device = await fetchToken(worker, tenant);
  await call('DELETE', `/v1/devices/${device}`);
  const park = (parkedId: string) =>
    env.DB.prepare(
      'INSERT INTO parked_messages (id, application_id, body, reason, parked_at) VALUES (?, ?, ?, ?, 1)',
    )
      .bind(parkedId, id, '{"v":1,"events":[]}', 'broken')
      .run();
  const [replayed, discarded] = [`prk_${'1'.repeat(32)}`, `prk_${'2'.repeat(32)}`];
  await park(replayed);
  await park(discarded);
  await call('POST', `/v1/parked/${replayed}/replay`);
  await call('DELETE', `/v1/parked/${discarded}`);

  const log = await listAudit(database(env.DB), tenant.team.id, { limit: 20 });
  expect(log.reverse().map(({ action, subject }) => [action, subject])).toEqual([
    ['application.created', `Chess (${made.id})`],
    ['application.changed', `Renamed (${id})`],
    ['api_key.regenerated', `Renamed (${id}), grace 1 h`],
    ['device.erased', expect.stringMatching(new RegExp(`^dev_[0-9a-f]{32} of ${id}$`))],
    ['parked_message.replayed', `${replayed}: broken`],
    ['parked_message.discarded', `${discarded}: broken`],
  ]);
  expect(new Set(log.map(({ actor }) => actor.replace(/tkn_[0-9a-f]{32}/, 'tkn_…')))).toEqual(
    new Set(['access token tkn_…']),
  );
  expect(JSON.stringify(log)).not.toContain(tenant.teamToken);
});

it('keeps no deed that failed', async () => {
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

it('lists a page of the log, newest first, from where the one before ended', async () => {
  const { team } = await createTenant();
  const db = database(env.DB);
  for (const subject of ['a', 'b', 'c']) {
    await auditStatement({ db, team, actor: 'me', now: 1 }, newAuditEntry('costs.uploaded', subject));
  }
  const page = await listAudit(db, team.id, { limit: 2 });
  expect(page.map(({ subject }) => subject)).toEqual(['c', 'b']);
  const rest = await listAudit(db, team.id, { limit: 2, before: page.at(-1)?.id ?? '' });
  expect(rest.map(({ subject }) => subject)).toEqual(['a']);
});
