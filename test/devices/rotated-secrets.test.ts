import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { readClickId, signClickId } from '#attribution';
import { readToken } from '#devices';
import { newId } from '#lib/ids';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const NEW = {
  TOKEN_SECRET: 'a-new-token-secret-of-the-tests-0000000',
  KEY_ENCRYPTION_SECRET: 'a-new-key-secret-of-the-tests-000000000',
};
const rotating = {
  TOKEN_SECRET: `${NEW.TOKEN_SECRET} ${env.TOKEN_SECRET}`,
  KEY_ENCRYPTION_SECRET: `${NEW.KEY_ENCRYPTION_SECRET} ${env.KEY_ENCRYPTION_SECRET}`,
};

it('accepts the tokens of both secrets while they are rotated, and finds known devices', async () => {
  const [before, during, after] = [startWorker(), startWorker(rotating), startWorker(NEW)];
  const tenant = await createTenant();
  const named = { data: { device_id: 'player-1' } };
  const former = await fetchToken(before, tenant, named);
  const verify = async (on: typeof before, token: string) =>
    (await on.post(tenant, '/verify-token', { token })).status;
  expect(await verify(during, former)).toBe(200);
  const current = await fetchToken(during, tenant, named);
  const deviceOf = async (token: string) => (await readToken(token, rotating.TOKEN_SECRET))?.deviceId;
  expect(await deviceOf(current)).toBe(await deviceOf(former));
  expect(await verify(after, current)).toBe(200);
  expect(await verify(after, former)).toBe(400);
});

it('credits click ids that were signed with either secret', async () => {
  const [app, click, creative] = ['app_1', newId('clk'), newId('crt')];
  for (const secret of [env.KEY_ENCRYPTION_SECRET, rotating.KEY_ENCRYPTION_SECRET]) {
    const signed = await signClickId(secret, app, click, creative);
    expect(await readClickId(rotating.KEY_ENCRYPTION_SECRET, app, signed)).toMatchObject({
      creativeId: creative,
    });
  }
  const forged = await signClickId('another secret', app, click, creative);
  expect(await readClickId(rotating.KEY_ENCRYPTION_SECRET, app, forged)).toMatchObject({ creativeId: null });
});

it('does not start with a secret that is too short', async () => {
  const worker = startWorker({ TOKEN_SECRET: `${NEW.TOKEN_SECRET} short` });
  const tenant = await createTenant();
  expect((await worker.post(tenant, '/verify-token', { token: 'x' })).status).toBe(500);
});
