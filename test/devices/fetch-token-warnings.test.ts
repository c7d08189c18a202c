import { beforeAll, describe, expect, it } from 'vitest';
import { deviceMetrics } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

// The body of `/fetch-token` has the token alone, so its warnings are in a header, in the install and in the explanation of the device.

type Warning = { path: string; message: string };

let worker: TestWorker;
let tenant: Tenant;
beforeAll(async () => {
  worker = startWorker();
  tenant = await createTenant();
});

async function fetchWith(body: unknown) {
  const answer = await worker.post(tenant, '/fetch-token', body);
  const sent: { token: string } = await answer.json();
  return { status: answer.status, sent, header: answer.headers.get('X-Warnings') };
}

async function explain(token: string): Promise<{ warnings?: Warning[] }> {
  return (await worker.team(tenant, `/v1/devices/${token}/attribution`)).json();
}

describe('X-Warnings', () => {
  it('is absent when all of the message was kept', async () => {
    const { status, header, sent } = await fetchWith(deviceMetrics({}));
    expect([status, header]).toEqual([200, null]);
    expect((await explain(sent.token)).warnings).toBeUndefined();
  });

  it('lists what was dropped, as the explanation of the device does', async () => {
    const { status, header, sent } = await fetchWith(
      deviceMetrics({ dpi: 'sharp' }, { created_at: '2569-03-01T10:00:00Z' }),
    );
    expect(status).toBe(200);
    expect(Object.keys(sent)).toEqual(['token']);
    const warnings = [
      { path: 'created_at', message: 'has a year that cannot be meant; dated when received' },
      { path: 'data.dpi', message: 'must be a number; ignored' },
    ];
    expect(JSON.parse(header ?? '')).toEqual(warnings);
    expect((await explain(sent.token)).warnings).toEqual(warnings);
  });

  it('is repeated for a device that is known', async () => {
    const body = deviceMetrics({ device_id: 'warned', dpi: -1 });
    const [first, second] = [await fetchWith(body), await fetchWith(body)];
    expect(first.header).not.toBeNull();
    expect(second.header).toBe(first.header);
  });

  it('has an entry in the answer of a batch', async () => {
    const body = { devices: [deviceMetrics({}), deviceMetrics({}, { created_at: '2999-01-01T00:00:00Z' })] };
    const answer = await worker.post(tenant, '/fetch-token/batch', body);
    const { results }: { results: { warnings?: Warning[] }[] } = await answer.json();
    expect(results.map(({ warnings }) => warnings)).toEqual([
      undefined,
      [expect.objectContaining({ path: 'created_at' })],
    ]);
  });
});
