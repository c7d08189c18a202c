import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { deviceMetrics, envelope, withField } from '../helpers/envelopes.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Ten thousand bodies that cannot be right: each is answered with a 4xx, and no total moves.

const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    '   ',
    [],
    {},
    -1,
    1e300,
    'x'.repeat(257),
    '\u0000',
    { deep: { er: [1] } },
    [[]],
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
);

/** Fields that no value of another kind can be right for, by the body they are in. */
const STRICT = {
  metrics: ['type', 'created_at', 'data', 'data.device_name', 'data.device_model', 'data.os_system'],
  retention: ['type', 'created_at', 'creativeToken', 'payload'],
  purchase: ['type', 'created_at', 'creativeToken', 'payload.value', 'payload.currency', 'payload.status'],
  ad: ['type', 'created_at', 'creativeToken', 'payload'],
  custom: ['type', 'created_at', 'creativeToken', 'payload.event_name', 'payload'],
} as const;

/** Whether a value could after all be right for a field, so that it has to be left out. */
function couldBeRight(path: string, value: unknown): boolean {
  if (path === 'payload') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (path === 'payload.value') return typeof value === 'number' && value >= 0 && value <= 1e9;
  const free = ['data.device_name', 'data.device_model', 'data.os_system', 'payload.event_name'];
  if (!free.includes(path)) return typeof value === 'string' && /^[\w/:. -]+$/.test(value.trim());
  return (
    typeof value === 'string' && value.trim() !== '' && value.trim().length <= 256 && !value.includes('\0')
  );
}

/** Fields that only describe: they may be anything but absent. */
const ABSENT = {
  metrics: ['data.timezone'],
  retention: [],
  purchase: ['payload.item_id'],
  ad: ['payload.ad_id', 'payload.source', 'payload.value', 'payload.currency'],
  custom: [],
} as const satisfies Record<keyof typeof STRICT, readonly string[]>;

const broken = (kind: keyof typeof STRICT) =>
  fc
    .oneof(
      fc.tuple(fc.constantFrom<string>(...STRICT[kind]), fc.oneof(fc.constant(undefined), junk)),
      fc.tuple(fc.constantFrom<string>(...STRICT[kind], ...ABSENT[kind]), fc.constant(undefined)),
    )
    .filter(([path, value]) => !couldBeRight(path, value))
    .map(([path, value]) => ({ kind, path, value }));

it('answers 4xx to 10,000 bad bodies and counts none of them', async () => {
  const worker = startWorker();
  const tenant = await createTenant();
  const token = await fetchToken(worker, tenant, { created_at: '2026-03-01T10:00:00.000Z' });
  const good = {
    metrics: deviceMetrics(),
    retention: envelope.retention(token),
    purchase: envelope.purchase(token),
    ad: envelope.ad(token),
    custom: envelope.custom(token),
  };
  const totals = async () => {
    const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=2010-01-01&to=2012-12-31`;
    const report: { totals: unknown } = await (await worker.team(tenant, path)).json();
    return report.totals;
  };
  const before = await totals();
  const text = fc.oneof(
    { weight: 8, arbitrary: fc.oneof(...(Object.keys(STRICT) as (keyof typeof STRICT)[]).map(broken)) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(text, async (body) => {
      const [path, sent] =
        typeof body === 'string'
          ? ['/webhook', body]
          : [
              body.kind === 'metrics' ? '/fetch-token' : '/webhook',
              JSON.stringify(withField(good[body.kind], body.path, body.value)),
            ];
      const answer = await worker.request(path, {
        method: 'POST',
        headers: { 'service-api-key': tenant.apiKey, 'Content-Type': 'application/json' },
        body: sent,
      });
      const { details }: { details: { path: string; message: string }[] } = await answer.json();
      expect([400, 413]).toContain(answer.status);
      if (typeof body !== 'string') expect(details.map((fault) => fault.path).join()).toContain(body.path);
      answered++;
    }),
    { numRuns: 10_000, endOnFailure: true },
  );
  expect(answered).toBe(10_000);
  expect(worker.queue.messages).toEqual([]);
  expect(await totals()).toEqual(before);
}, 180_000);
