import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { invalidSettings, settingsOf } from '#env';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const withVariables = (variables: Record<string, string>) => ({ ...env, ...variables }) as unknown as Env;

describe.each([
  ['METRICS_TOKEN', 'short', '', 'must have at least 32 characters'],
  ['TRACKING_BASE_URL', 'links.example.com', '', 'Invalid URL'],
  ['TOKEN_TTL_DAYS', 'a year', 400, 'Invalid input'],
  ['IDEMPOTENCY_DAYS', '3', 3650, 'must be at least 9'],
  ['RAW_RETENTION_DAYS', '800 days', 3650, 'Invalid input'],
  ['EXCHANGE_RATES_URL', 'ecb', expect.stringContaining('ecb.europa.eu'), 'Invalid URL'],
  ['POSTBACK_DOMAIN', 'http://x', '', 'must be a domain'],
  ['MAIL_FROM', 'growth', '', 'must be an email address'],
  ['OUTBOUND_LOCAL', 'perhaps', false, 'must be true or false'],
])('an invalid %s', (name, value, fallback, fault) => {
  const variables = { [name]: value };

  it('counts as absent, or as what deletes nothing, and leaves the other settings as they are', () => {
    const changed = withVariables({ ...variables, SERVICE_NAME: 'acme' });
    expect(settingsOf(changed)).toEqual({
      ...settingsOf(withVariables({ SERVICE_NAME: 'acme' })),
      [name]: fallback,
    });
    expect(invalidSettings(changed)).toEqual([expect.stringMatching(`^${name} .*${fault}`)]);
    expect(invalidSettings(changed).join()).not.toContain(value);
  });

  it('lets events be taken, and is a problem on Health', async () => {
    const worker = startWorker(variables as Partial<Env>);
    const tenant = await createTenant();
    expect((await worker.request('/health')).status).toBe(200);
    const token = await fetchToken(worker, tenant);
    const event = {
      type: 'retention',
      created_at: new Date().toISOString(),
      creativeToken: token,
      payload: {},
    };
    expect((await worker.post(tenant, '/webhook', event)).status).toBe(200);
    const health = await (await worker.team(tenant, '/v1/health')).json();
    expect(health).toMatchObject({
      status: 'degraded',
      problems: expect.arrayContaining([
        expect.stringMatching(`^A setting is invalid, so it is not used: ${name} `),
      ]),
    });
  });
});

it('says on /metrics why they are off', async () => {
  const worker = startWorker({ METRICS_TOKEN: 'short' } as Partial<Env>);
  const answer = await worker.request('/metrics');
  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain(
    'Metrics are switched off: METRICS_TOKEN must have at least 32 characters',
  );
});

it.each(['TOKEN_SECRET', 'KEY_ENCRYPTION_SECRET', 'SESSION_SECRET'])('refuses to work without %s', (name) => {
  expect(() => settingsOf(withVariables({ [name]: 'short' }))).toThrow(
    `The deployment is not configured: ${name} must have at least 32 characters`,
  );
});
