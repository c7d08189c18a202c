import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { counterOf } from '#counting';
import { readToken, type TokenClaims } from '#devices';
import { WatchedD1 } from '../helpers/d1.ts';
import { deviceMetrics, envelope, withField } from '../helpers/envelopes.ts';
import { settleAll } from '../helpers/settle.ts';
import { counterRows, loggedEvents, storedDevice } from '../helpers/stored.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker, type TestWorker } from '../helpers/worker.ts';

let worker: TestWorker;
let tenant: Tenant;
beforeAll(async () => {
  worker = startWorker();
  tenant = await createTenant({ timezone: 'America/New_York' });
});

async function tokenOf(
  body: unknown,
  of = tenant,
  on = worker,
): Promise<{ token: string; claims: TokenClaims }> {
  const answer = await on.post(of, '/fetch-token', body);
  expect(answer.status).toBe(200);
  const sent: { token: string } = await answer.json();
  expect(Object.keys(sent)).toEqual(['token']);
  const claims = await readToken(sent.token, env.TOKEN_SECRET);
  if (!claims) throw new Error('not a token');
  return { token: sent.token, claims };
}

async function installs(of: Tenant, day: string): Promise<number | undefined> {
  await settleAll(of.application.id);
  const path = `/v1/reports/performance?application_id=${of.application.id}&from=${day}&to=${day}`;
  const report: { totals: { installs: number } } = await (await worker.team(of, path)).json();
  return report.totals.installs;
}

describe('POST /fetch-token', () => {
  it('returns only a token, with the acquisition day in the time zone of the application', async () => {
    const { claims } = await tokenOf(deviceMetrics({}, { created_at: '2026-03-01T03:00:00.000Z' }));
    expect(claims).toMatchObject({
      applicationId: tenant.application.id,
      creativeId: null,
      acquiredDay: '2026-02-28',
    });
    const lifetime = (claims.expiresAt - claims.createdAt) / 86_400_000;
    expect(lifetime).toBe(400);
  });

  it.each([
    ['the form without zone, seen in the wild', deviceMetrics({}, { created_at: '2026-03-01 10:00:00' })],
    ['all of the metrics', deviceMetrics({ dpi: 420.5, window_height: 2400, window_width: 1080 })],
    [
      'null for optional metrics',
      deviceMetrics({ dpi: null, window_height: null, window_width: null, device_id: null }),
    ],
    ['unknown fields', deviceMetrics({ colour: 'green' }, { sdk: '1.2' })],
    ['blanks around texts', deviceMetrics({ device_name: '  Pixel  ' }, { type: ' device-metrics ' })],
  ])('accepts %s', async (_, body) => {
    await tokenOf(body);
  });

  it.each([
    ['type', undefined],
    ['type', 'device'],
    ['type', 3],
    ['created_at', undefined],
    ['created_at', 'yesterday'],
    ['created_at', '2026-02-30T10:00:00.000Z'],
    ['created_at', 1767261600],
    ['data', undefined],
    ['data', 'x'],
    ['data', []],
    ['data.device_name', undefined],
    ['data.device_name', '   '],
    ['data.device_name', 'x'.repeat(257)],
    ['data.device_name', 'a\u0000b'],
    ['data.device_model', null],
    ['data.os_system', 5],
    ['data.timezone', undefined],
    ['data.device_id', {}],
  ])('names %s when it is %j', async (path, value) => {
    const answer = await worker.post(tenant, '/fetch-token', withField(deviceMetrics(), path, value));
    expect(answer.status).toBe(400);
    const body: { error: string; details: { path: string }[] } = await answer.json();
    expect(Object.keys(body).sort()).toEqual(['details', 'error']);
    expect(body.error).toBe('Bad request, data not formatted properly.');
    expect(body.details.map((fault) => fault.path)).toEqual([path]);
  });

  it.each([
    ['a timestamp for a zone', { timezone: '2026-11-10T09:00:00.058Z' }, '', 'data.timezone'],
    ['a zone that is none', { timezone: 'Mars/Olympus' }, '', 'data.timezone'],
    ['an offset for a zone', { timezone: '+05:30' }, '', 'data.timezone'],
    ['a zone that is a number', { timezone: 3 }, '', 'data.timezone'],
    ['a negative density', { dpi: -1 }, 'UTC', 'data.dpi'],
    ['a window that is none', { window_height: true }, 'UTC', 'data.window_height'],
    ['a country that is none', { country: 'Germany' }, 'UTC', 'data.country'],
  ])('treats %s as unknown, with a warning on the install', async (_, data, timezone, path) => {
    const of = await createTenant();
    const { claims } = await tokenOf(deviceMetrics({ timezone: 'UTC', ...data }), of);
    expect((await storedDevice(claims))?.description).toMatchObject({
      timezone,
      dpi: null,
      windowHeight: null,
      segment: { country: '' },
    });
    const [install] = await loggedEvents(of.application.id);
    expect(install).toMatchObject({ type: 'install', warnings: [{ path }] });
  });

  it('stores country, application version and SDK', async () => {
    const of = await createTenant();
    const { claims } = await tokenOf(
      deviceMetrics({ country: 'DE' }, { app_version: '1.2', sdk_version: '3', sdk_type: 'unity' }),
      of,
    );
    expect((await storedDevice(claims))?.description).toMatchObject({
      segment: { country: 'de', app_version: '1.2', sdk_version: '3', network: '' },
      test: false,
    });
    expect(await loggedEvents(of.application.id)).toMatchObject([
      { device: { app_version: '1.2', sdk_version: '3', sdk_type: 'unity' } },
    ]);
  });

  it("stores a person's choices with the device and its install", async () => {
    const of = await createTenant();
    const choices = { lat: true, att_status: 'denied', ad_user_data: true, advertising_id: 'ID-SECRET' };
    const { claims } = await tokenOf(deviceMetrics({}, choices), of);
    const told = { lat: 'true', att_status: 'denied', ad_user_data: 'true' };
    expect((await storedDevice(claims))?.description.consent).toEqual(told);
    const [install] = await loggedEvents(of.application.id);
    expect(install).toMatchObject({ type: 'install', device: told });
    expect(JSON.stringify(install)).not.toContain('SECRET');
  });

  it('marks the install of a test build, and of no other', async () => {
    const of = await createTenant();
    const [{ claims }] = [
      await tokenOf(deviceMetrics({}, { dev: true }), of),
      await tokenOf(deviceMetrics({}, { dev: false }), of),
    ];
    const marked = (await loggedEvents(of.application.id)).filter((event) => 'test' in event);
    expect(marked).toMatchObject([{ type: 'install', device_id: claims.deviceId, test: true }]);
  });

  it('sets a time ahead of ours to ours', async () => {
    const { claims } = await tokenOf(deviceMetrics({}, { created_at: '2999-01-01T00:00:00.000Z' }));
    expect(claims.acquiredDay <= new Date().toISOString().slice(0, 10)).toBe(true);
  });

  it('gives every call without device_id a new device', async () => {
    const [first, second] = [await tokenOf(deviceMetrics()), await tokenOf(deviceMetrics())];
    expect(first.claims.deviceId).not.toBe(second.claims.deviceId);
  });

  it('gives the same device_id the same device with its first day, and one install', async () => {
    const of = await createTenant();
    const first = await tokenOf(deviceMetrics({ device_id: 'user-1' }), of);
    const renewed = await tokenOf(
      deviceMetrics({ device_id: 'user-1' }, { created_at: '2026-04-05T10:00:00.000Z' }),
      of,
    );
    expect(renewed.token).not.toBe(first.token);
    expect(renewed.claims).toMatchObject({ deviceId: first.claims.deviceId, acquiredDay: '2026-03-01' });
    expect(await installs(of, '2026-03-01')).toBe(1);
    expect(await installs(of, '2026-04-05')).toBe(0);
    const other = await tokenOf(deviceMetrics({ device_id: 'user-1' }), await createTenant());
    expect(other.claims.deviceId).not.toBe(first.claims.deviceId);
  });

  it('creates one device for many simultaneous calls with one device_id', async () => {
    const of = await createTenant();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => tokenOf(deviceMetrics({ device_id: 'u' }), of)),
    );
    expect(new Set(all.map(({ claims }) => claims.deviceId)).size).toBe(1);
    expect(new Set(all.map(({ claims }) => claims.tokenId)).size).toBe(20);
    expect(await installs(of, '2026-03-01')).toBe(1);
  });

  it('stores the device_id only as a keyed hash', async () => {
    await tokenOf(deviceMetrics({ device_id: 'someone@example.com' }));
    const aliases = await counterRows(tenant.application.id, 'aliases');
    expect(aliases.length).toBeGreaterThan(0);
    expect(JSON.stringify(aliases)).not.toContain('someone');
  });
});

describe('POST /verify-token', () => {
  const verify = async (token: unknown, of = tenant) => worker.post(of, '/verify-token', { token });

  it('describes a valid token', async () => {
    const { token, claims } = await tokenOf(deviceMetrics());
    const answer = await verify(` ${token} `);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      success: true,
      valid: true,
      created_at: new Date(claims.createdAt).toISOString(),
      expires_at: new Date(claims.expiresAt).toISOString(),
      creative: null,
    });
  });

  it.each([undefined, null, '', '  ', 5])('answers 400 Token is required to %j', async (token) => {
    const answer = await verify(token);
    expect(answer.status).toBe(400);
    const message = 'Token is required';
    expect(await answer.json()).toEqual({
      success: false,
      error: message,
      details: [{ path: 'token', message }],
    });
  });

  it('answers 400 Invalid token to a forged, revoked or expired token and to that of an erased device', async () => {
    const invalid = {
      success: false,
      error: 'Invalid token',
      details: [{ path: 'token', message: 'Invalid token' }],
    };
    const { token, claims } = await tokenOf(deviceMetrics());
    const forged = await verify(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`);
    expect([forged.status, await forged.json()]).toEqual([400, invalid]);

    await env.DB.prepare('UPDATE tokens SET revoked_at = 1 WHERE id = ?').bind(claims.tokenId).run();
    const revoked = await verify(token);
    expect([revoked.status, await revoked.json()]).toEqual([400, invalid]);

    const erased = await tokenOf(deviceMetrics());
    await worker.team(tenant, `/v1/devices/${erased.token}`, { method: 'DELETE' });
    const gone = await verify(erased.token);
    expect([gone.status, await gone.json()]).toEqual([400, invalid]);
  });

  it('answers 403 to the token of another application', async () => {
    const { token } = await tokenOf(deviceMetrics());
    const answer = await verify(token, await createTenant());
    expect(answer.status).toBe(403);
    expect(await answer.json()).toEqual({ success: false, error: 'Access denied for this resource' });
  });
});

it('reports an expired token at /webhook and /verify-token', async () => {
  const { signToken } = await import('#devices');
  const { claims } = await tokenOf(deviceMetrics());
  const expired = await signToken({ ...claims, expiresAt: Date.now() - 1000 }, env.TOKEN_SECRET);
  const webhook = await worker.post(tenant, '/webhook', envelope.ad(expired));
  expect(webhook.status).toBe(400);
  expect(await webhook.json()).toMatchObject({
    details: [{ path: 'creativeToken', message: 'has expired; fetch a new one' }],
  });
  expect((await worker.post(tenant, '/verify-token', { token: expired })).status).toBe(400);
});

describe('the identity of an installation', () => {
  const deviceOf = async (of: Tenant, more: object, data: Record<string, unknown> = {}) =>
    (await tokenOf(deviceMetrics(data, { ...more }), of)).claims.deviceId;

  it.each([
    ['asid', { asid: 'A' }, { asid: 'A', ifv: 'B' }],
    ['ifv', { ifv: 'V' }, { ifv: 'V', ga: 'other' }],
    ['ga', { ga: 'G' }, { ga: 'G', aid: 'other', lat: false }],
    ['aid', { aid: 'D' }, { aid: 'D' }],
    ['ifv of a person who limits tracking', { ifv: 'V', lat: true }, { ifv: 'V', lat: true }],
  ])('finds the same device by %s', async (_, first, second) => {
    const of = await createTenant();
    expect(await deviceOf(of, second)).toBe(await deviceOf(of, first));
  });

  it.each([
    ['another id', { ifv: 'V' }, { ifv: 'W' }],
    ['another kind of id', { asid: 'V' }, { ifv: 'V' }],
    ['an advertising id of a person who limits tracking', { ga: 'G', lat: true }, { ga: 'G', lat: true }],
    [
      'an id of zeros',
      { ga: '00000000-0000-0000-0000-000000000000' },
      { ga: '00000000-0000-0000-0000-000000000000' },
    ],
    ['the text null', { ifv: 'null' }, { ifv: 'null' }],
    ['the id of many early Android devices', { aid: '9774d56d682e549c' }, { aid: '9774d56d682e549c' }],
    ['a debug build', { ifv: 'V' }, { ifv: 'V', dev: true }],
  ])('creates another device for %s', async (_, first, second) => {
    const of = await createTenant();
    expect(await deviceOf(of, second)).not.toBe(await deviceOf(of, first));
  });

  it('is used only without the backend’s own id', async () => {
    const of = await createTenant();
    const first = await deviceOf(of, { ifv: 'V' }, { device_id: 'mine' });
    expect(await deviceOf(of, { ifv: 'W' }, { device_id: 'mine' })).toBe(first);
    expect(await deviceOf(of, { ifv: 'V' })).not.toBe(first);
  });

  it('is stored only as a keyed hash', async () => {
    const of = await createTenant();
    await deviceOf(of, { asid: 'SECRET-1', ifv: 'SECRET-2', ga: 'SECRET-3', aid: 'SECRET-4' });
    for (const table of ['devices', 'aliases', 'log']) {
      const rows = await counterRows(of.application.id, table);
      expect(rows.length, table).toBeGreaterThan(0);
      expect(JSON.stringify(rows), table).not.toContain('SECRET');
    }
    const { results } = await env.DB.prepare('SELECT * FROM tokens').all();
    expect(results.length).toBeGreaterThan(0);
    expect(JSON.stringify(results)).not.toContain('SECRET');
  });
});

describe('POST /fetch-token/batch', () => {
  type Result = {
    index: number;
    token?: string;
    error?: string;
    details?: { path: string }[];
    warnings?: object[];
  };
  const batch = async (devices: unknown, of = tenant, on = worker) => {
    const answer = await on.post(of, '/fetch-token/batch', { devices });
    const body: { accepted: number; rejected: number; results: Result[]; error?: string } =
      await answer.json();
    return { status: answer.status, ...body };
  };

  it('returns a token for each valid item, and the faults of each other one', async () => {
    const of = await createTenant();
    const created_at = '2026-03-05T10:00:00.000Z';
    const devices = [
      deviceMetrics({ device_id: 'a' }, { created_at }),
      { type: 'device-metrics' },
      deviceMetrics({ device_id: 'b', dpi: -1 }, { created_at }),
      deviceMetrics({ device_id: 'a' }, { created_at }),
    ];
    const { status, accepted, rejected, results } = await batch(devices, of);
    expect([status, accepted, rejected]).toEqual([200, 3, 1]);
    expect(results[1]).toMatchObject({ index: 1, details: [{ path: 'created_at' }, { path: 'data' }] });
    expect(results[2]?.warnings).toHaveLength(1);
    const claims = await Promise.all(results.map(({ token = '' }) => readToken(token, env.TOKEN_SECRET)));
    expect(claims[0]?.deviceId).toBe(claims[3]?.deviceId);
    expect(claims[0]?.deviceId).not.toBe(claims[2]?.deviceId);
    expect(claims[0]?.tokenId).not.toBe(claims[3]?.tokenId);
    expect(await installs(of, '2026-03-05')).toBe(2);
    // The same device as by the single way, and no second installation.
    const { claims: again } = await tokenOf(devices[0], of);
    expect(again.deviceId).toBe(claims[0]?.deviceId);
    expect(await installs(of, '2026-03-05')).toBe(2);
  });

  it('creates a device as the first of its items describes it', async () => {
    const of = await createTenant();
    const created_at = '2026-03-05T10:00:00.000Z';
    const models = ['Pixel 9', 'Pixel 8', 'Pixel 7'];
    const devices = models.map((device_model) =>
      deviceMetrics({ device_id: 'same', device_model }, { created_at }),
    );
    const { results } = await batch(devices, of);
    const claims = await Promise.all(results.map(({ token = '' }) => readToken(token, env.TOKEN_SECRET)));
    const [id = ''] = claims.map((own) => own?.deviceId ?? '');
    expect(new Set(claims.map((own) => own?.deviceId))).toEqual(new Set([id]));
    const stored = await counterOf(env, of.application.id, 0).readDevice(id);
    expect(stored?.description.deviceModel).toBe('Pixel 9');
  });

  it('needs as few statements for 200 devices as for one', async () => {
    const of = await createTenant();
    const watched = new WatchedD1(env.DB);
    const on = startWorker({ DB: watched.asBinding() });
    const many = Array.from({ length: 200 }, (_, index) =>
      deviceMetrics({ device_id: `d${index}` }, { created_at: '2026-03-06T10:00:00.000Z' }),
    );
    expect((await batch(many, of, on)).accepted).toBe(200);
    const writes = watched.log.filter((sql) => /^\s*(?:INSERT|UPDATE|DELETE)/.test(sql));
    expect(writes.length).toBeLessThanOrEqual(4);
    expect(await installs(of, '2026-03-06')).toBe(200);
  });

  it.each([
    ['nothing', undefined],
    ['no list', 'x'],
    ['an empty list', []],
    ['more than 200', Array.from({ length: 201 }, () => ({}))],
  ])('refuses the whole batch with 400 for %s', async (_, devices) => {
    const { status, error } = await batch(devices);
    expect([status, error]).toEqual([400, 'devices must be a list of 1 to 200 devices']);
  });
});
