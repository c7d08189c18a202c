import { beforeAll, expect, it } from 'vitest';
import { SEGMENT_DIMENSIONS } from '#catalogue';
import { openApiDocument } from '../../src/docs/document.ts';
import { ENDPOINTS } from '../../src/service.ts';
import { envelope } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// `with-dimensions.ts` adds a dimension of devices and one of events, and everything else that there is about dimensions has to follow.

const worker = startWorker();
let tenant: Tenant;

const DEVICES = [
  { timezone: 'Europe/Berlin', sdk_type: 'unity', later: 'native' },
  { timezone: 'Asia/Tokyo', sdk_type: 'native', later: 'native' },
];
const [BERLIN, TOKYO] = DEVICES.map(({ timezone }) => timezone);

beforeAll(async () => {
  tenant = await createTenant();
  for (const { timezone, sdk_type, later } of DEVICES) {
    const answer = await worker.post(tenant, '/fetch-token', {
      ...{ type: 'device-metrics', created_at: '2026-03-01T10:00:00Z', sdk_type },
      data: { device_name: 'Pixel', device_model: 'Pixel 9', os_system: 'Android 16', timezone },
    });
    const { token } = await answer.json<{ token: string }>();
    const at = { created_at: '2026-03-02 10:00:00', sdk_type: later };
    const events = [envelope.purchase(token, at), envelope.custom(token, at)];
    await worker.post(tenant, '/webhook/batch', { events });
    await worker.deliver(worker.queue.take());
  }
  await settleAll(tenant.application.id);
});

type Row = Record<string, unknown>;
const ask = async (path: string) => {
  const period = `application_id=${tenant.application.id}&from=2026-03-01&to=2026-03-31`;
  return (await worker.team(tenant, `${path}${path.includes('?') ? '&' : '?'}${period}`)).json<{
    data: Row[];
  }>();
};
const rows = async (path: string, ...columns: string[]) =>
  (await ask(`/v1/reports/${path}`)).data.map((row) => columns.map((name) => row[name])).sort();

it('stands in the middle of the list', () => {
  expect(SEGMENT_DIMENSIONS.slice(2, 6)).toEqual(['network', 'timezone', 'sdk_type', 'app_version']);
});

it('groups and filters reports of events, with the distinct payers of a device’s', async () => {
  expect(await rows('performance?group_by=timezone', 'timezone', 'installs', 'payers')).toEqual([
    [TOKYO, 1, 1],
    [BERLIN, 1, 1],
  ]);
  expect(await rows('performance?group_by=sdk_type', 'sdk_type', 'installs', 'purchases', 'payers')).toEqual([
    ['native', 1, 2, null],
    ['unity', 1, 0, null],
  ]);
  const ofBerlin = `performance?group_by=sdk_type&timezone=${encodeURIComponent(String(BERLIN))}`;
  expect(await rows(ofBerlin, 'sdk_type', 'installs', 'purchases')).toEqual([
    ['native', 0, 1],
    ['unity', 1, 0],
  ]);
});

it('groups and filters reports of devices, by what they were acquired with', async () => {
  expect(await rows('retention?group_by=timezone&days=1&cohort=all', 'timezone', 'size')).toEqual([
    [TOKYO, 1],
    [BERLIN, 1],
  ]);
  expect(await rows('ltv?group_by=sdk_type&days=1&cohort=all', 'sdk_type', 'size')).toEqual([
    ['native', 1],
    ['unity', 1],
  ]);
  expect(await rows('funnel?steps=install,purchase&sdk_type=unity', 'step', 'devices')).toEqual([
    ['install', 1],
    ['purchase', 1],
  ]);
});

it('is shown by raw events, and filters them', async () => {
  const { data } = await ask(`/v1/events?timezone=${encodeURIComponent(String(TOKYO))}`);
  expect(data.map(({ timezone }) => timezone)).toEqual([TOKYO, TOKYO, TOKYO]);
  expect((await ask('/v1/events?sdk_type=unity')).data.map(({ type }) => type)).toEqual(['install']);
});

it('is documented', () => {
  const document = JSON.stringify(openApiDocument('service', ENDPOINTS));
  for (const name of ['timezone', 'sdk_type']) expect(document).toContain(`"name":"${name}"`);
});
