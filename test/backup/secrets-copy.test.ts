import { env } from 'cloudflare:workers';
import { afterEach, expect, it, vi } from 'vitest';
import { sha256Hex } from '#lib/crypto';
import { TEST_SECRETS } from '../helpers/secrets.ts';
import { startWorker } from '../helpers/worker.ts';

// A copy of the secrets, for who can write to the deployment's database.

const worker = startWorker();
const TOKEN = 'a-token-of-the-command-line-0123456789';

afterEach(() => vi.restoreAllMocks());

const ask = (token = TOKEN) =>
  worker.request('/secrets-copy', { method: 'POST', headers: { Authorization: `Bearer ${token}` } });

const permit = async (expiresAt: number) =>
  env.DB.prepare('INSERT INTO secret_copies (hash, expires_at) VALUES (?, ?)')
    .bind(await sha256Hex(TOKEN), expiresAt)
    .run();

it('gives the secrets once', async () => {
  const logged = vi.spyOn(console, 'warn').mockReturnValue();
  await permit(Date.now() + 60_000);
  expect((await ask('another token')).status).toBe(401);
  const answer = await ask();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('Cache-Control')).toBe('no-store');
  expect(await answer.json()).toEqual({ secrets: TEST_SECRETS });
  expect((await ask()).status).toBe(401);
  expect(JSON.stringify(logged.mock.calls)).toContain('secrets copied');
  for (const secret of Object.values(TEST_SECRETS))
    expect(JSON.stringify(logged.mock.calls)).not.toContain(secret);
});

it('gives nothing without a token, and to one that has expired', async () => {
  expect((await ask('')).status).toBe(401);
  await permit(Date.now() - 1);
  const answer = await ask();
  expect([answer.status, await answer.json()]).toEqual([
    401,
    { success: false, error: 'This token is not valid, has expired, or was used' },
  ]);
  expect((await worker.request('/secrets-copy')).status).toBe(405);
});
