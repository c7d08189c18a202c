import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { DAY_MS } from '#lib/time';
import { pruneCredentials } from '#teams';
import { createTenant } from '../helpers/tenant.ts';

const NOW = Date.UTC(2026, 2, 31);

it('deletes an API key 30 days after it stopped working, and none that still works', async () => {
  const { application } = await createTenant();
  const ends = {
    current: null,
    in_grace: NOW + 1,
    ended_today: NOW - 1,
    ended_30_days_ago: NOW - 30 * DAY_MS,
    ended_before: NOW - 30 * DAY_MS - 1,
  };
  await env.DB.batch([
    env.DB.prepare('DELETE FROM api_keys'),
    ...Object.entries(ends).map(([hash, expiresAt]) =>
      env.DB.prepare(
        'INSERT INTO api_keys (hash, application_id, encrypted, created_at, expires_at) VALUES (?, ?, ?, 0, ?)',
      ).bind(hash, application.id, 'x', expiresAt),
    ),
  ]);
  await pruneCredentials(env.DB, NOW);
  const { results } = await env.DB.prepare('SELECT hash FROM api_keys').all<{ hash: string }>();
  expect(results.map(({ hash }) => hash).sort()).toEqual(
    ['current', 'in_grace', 'ended_today', 'ended_30_days_ago'].sort(),
  );
});

it('deletes an access token 30 days after it expired or was revoked, whichever came first', async () => {
  const { team } = await createTenant();
  const old = NOW - 31 * DAY_MS;
  const rows: [string, number | null, number | null][] = [
    ['works', null, null],
    ['expires later', NOW + DAY_MS, null],
    ['expired today', NOW - 1, null],
    ['revoked today', null, NOW - 1],
    ['revoked today, expires later', NOW + DAY_MS, NOW - 1],
    ['expired long ago', old, null],
    ['revoked long ago', null, old],
    ['revoked long ago, expires later', NOW + DAY_MS, old],
    ['expired long ago, revoked today', old, NOW - 1],
  ];
  await env.DB.batch([
    env.DB.prepare('DELETE FROM access_tokens'),
    ...rows.map(([name, expiresAt, revokedAt]) =>
      env.DB.prepare(
        `INSERT INTO access_tokens (hash, id, team_id, name, created_at, expires_at, revoked_at)
         VALUES (?1, ?1, ?2, ?1, 0, ?3, ?4)`,
      ).bind(name, team.id, expiresAt, revokedAt),
    ),
  ]);
  await pruneCredentials(env.DB, NOW);
  const { results } = await env.DB.prepare('SELECT name FROM access_tokens').all<{ name: string }>();
  expect(new Set(results.map(({ name }) => name))).toEqual(new Set(rows.slice(0, 5).map(([name]) => name)));
});
