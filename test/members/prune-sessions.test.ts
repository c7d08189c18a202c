import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { database } from '#db';
import { invite, pruneSessions } from '#members';
import worker from '../../src/index.ts';
import { inMinuteOf } from '../helpers/minutes.ts';
import { createPerson, signIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const service = startWorker();

async function personWithInvitation() {
  const { team } = await createTenant();
  const person = await createPerson(team, 'owner');
  const browser = await signIn(service, person);
  const caller = { db: database(env.DB), team, actor: 'x', now: Date.now(), userId: 'usr_x' };
  await invite({ ...caller, role: 'owner' }, { role: 'viewer', note: 'x' });
  return { team, browser };
}

const count = (table: 'sessions' | 'invitations') =>
  env.DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n');

it('deletes a session and an invitation once they expire, not before', async () => {
  await personWithInvitation();
  await env.DB.prepare('UPDATE invitations SET expires_at = expires_at + 60000').run();
  for (const table of ['sessions', 'invitations'] as const) {
    const ends = (await env.DB.prepare(`SELECT max(expires_at) AS n FROM ${table}`).first<number>('n')) ?? 0;
    expect(ends).toBeGreaterThan(Date.now() + 6 * 86_400_000);
    await pruneSessions(env.DB, ends);
    expect(await count(table)).toBe(1);
    await pruneSessions(env.DB, ends + 1);
    expect(await count(table)).toBe(0);
  }
});

it('keeps people signed in when the cron runs', async () => {
  const { team, browser } = await personWithInvitation();
  await worker.scheduled(inMinuteOf('chores'), env);
  expect((await browser.get('/settings/account')).status).toBe(200);
  const left = await env.DB.prepare('SELECT count(*) AS n FROM invitations WHERE team_id = ?')
    .bind(team.id)
    .first('n');
  expect(left).toBe(1);
});
