import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AUDIT_ACTIONS, type AuditAction, listAudit } from '#audit';
import { database, members, passkeys } from '#db';
import { listInvitations, listMembers } from '#members';
import { listAccessTokens } from '#teams';
import { createCreative } from '../helpers/creatives.ts';
import { watchedLimit } from '../helpers/limits.ts';
import { pageOf } from '../helpers/page.ts';
import { parkMessage } from '../helpers/parked.ts';
import { type Browser, createPerson, FORM, openSession, PASSWORD } from '../helpers/person.ts';
import { destinationObject, Receiver } from '../helpers/receiver.ts';
import { settleAll } from '../helpers/settle.ts';
import { dump, tableNames } from '../helpers/tables.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { codeOf } from '../helpers/totp.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// All who join come from one address.
const worker = startWorker({
  SIGN_IN_ADDRESS_LIMIT: watchedLimit().binding,
  // Each change has a team of its own, whose token is new to the isolate.
  UNKNOWN_CREDENTIAL_LIMIT: watchedLimit().binding,
});
const db = database(env.DB);

type Prepared = { tenant: Tenant; owner: Browser };
type Change = {
  /** What it is recorded as. */
  action: AuditAction;
  by: 'API' | 'dashboard';
  /** Makes what the change needs; answers the call that makes the change. */
  prepare: (on: Prepared) => Promise<() => Promise<Response>>;
};

const api =
  (method: string, path: (id: string) => string, body?: (id: string) => unknown): Change['prepare'] =>
  async ({ tenant }) => {
    const { id } = tenant.application;
    return () => worker.team(tenant, path(id), { method, body: body?.(id) });
  };
const form =
  (path: (id: string) => string, fields: Record<string, string> = {}): Change['prepare'] =>
  async ({ tenant, owner }) =>
  () =>
    owner.post(path(tenant.application.id), fields);

const costs = [{ date: '2026-03-01', campaign: 'Spring', currency: 'usd', amount: 1 }];
const csv = 'date,campaign,currency,amount\n2026-03-01,Spring,usd,1';

const park = ({ tenant }: Prepared) => parkMessage(tenant.application.id);

async function member({ tenant }: Prepared): Promise<string> {
  return (await createPerson(tenant.team, 'viewer')).id;
}

async function invitation({ owner }: Prepared): Promise<string> {
  const page = await (await owner.submit('/settings/members', { note: 'Ann', role: 'viewer' })).text();
  return /\/join\/[\w-]+/.exec(page)?.[0] ?? '';
}

const connector = {
  kind: 'levelplay',
  settings: { app_key: 'a' },
  credentials: { secret_key: 'b', refresh_token: 'c' },
};

async function connected(tenant: Tenant): Promise<string> {
  const body = { application_id: tenant.application.id, ...connector };
  const answer = await worker.team(tenant, '/v1/connectors', { method: 'POST', body });
  return (await answer.json<{ id: string }>()).id;
}

const destination = { kind: 'webhook', url: 'https://hooks.example.com/', events: ['install'] };

const onDestination =
  (method: string, path = '', body?: object): Change['prepare'] =>
  async ({ tenant }) => {
    const whole = { application_id: tenant.application.id, ...destination };
    const made = await worker.team(tenant, '/v1/destinations', { method: 'POST', body: whole });
    const { id } = await made.json<{ id: string }>();
    await destinationObject(id, new Receiver()).inside(() => undefined);
    return () => worker.team(tenant, `/v1/destinations/${id}${path}`, { method, body });
  };

const note = { day: '2026-03-01', text: 'Sale' };

async function noted({ owner }: Prepared): Promise<string> {
  await owner.post('/notes', note);
  return /\/notes\/not_\w+/.exec(await (await owner.get('/notes')).text())?.[0] ?? '';
}

/** The key of an authenticator app that waits for its first code. */
async function newAppKey(owner: Browser): Promise<string> {
  const page = await pageOf(await owner.submit('/settings/account/app', { password: PASSWORD }));
  return page.texts('.notice code')[0] ?? '';
}

const hook = { channel_kind: 'webhook', target: 'https://hooks.example.com/x', digest: 'daily' };
const alert = { metric: 'no_events', threshold: '2' };
const newAlert = { kind: 'no_events', threshold: 2 };

/** A change to what another one has made first, whose address is found on a page. */
const after =
  (make: (on: Prepared) => Promise<unknown>, page: string, action: RegExp): Change['prepare'] =>
  async (on) => {
    await make(on);
    const path = action.exec(await (await on.owner.get(page)).text())?.[0] ?? '';
    return () => on.owner.post(path);
  };

async function makeAlert(tenant: Tenant): Promise<string> {
  const body = { application_id: tenant.application.id, ...newAlert };
  const made = await worker.team(tenant, '/v1/alerts', { method: 'POST', body });
  return (await made.json<{ id: string }>()).id;
}

const onAlert =
  (action: 'off' | 'remove'): Change['prepare'] =>
  async ({ tenant, owner }) => {
    const path = `/alerts/${await makeAlert(tenant)}/${action}`;
    return () => owner.post(path);
  };

async function resetLink({ tenant, owner }: Prepared): Promise<string> {
  const [self] = await listMembers(db, tenant.team.id);
  const page = await (await owner.submit(`/settings/members/${self?.userId}/password-reset`)).text();
  return /\/reset-password\/[\w-]{43}/.exec(page)?.[0] ?? '';
}

/** Uploads costs of a name that the application does not have; answers the fields that map it to one that it has. */
async function unmatchedCosts({ tenant, owner }: Prepared): Promise<{ names: string; to: string }> {
  const { id } = await createCreative(worker, tenant);
  await owner.post(`/costs?app=${tenant.application.id}`, { csv });
  return { names: JSON.stringify(['Spring', '', '']), to: id };
}

const CHANGES: Change[] = [
  { action: 'alert.created', by: 'dashboard', prepare: form((id) => `/alerts/new?app=${id}`, alert) },
  { action: 'alert.changed', by: 'dashboard', prepare: onAlert('off') },
  {
    action: 'alert.removed',
    by: 'dashboard',
    prepare: onAlert('remove'),
  },
  {
    action: 'alert.created',
    by: 'API',
    prepare: api(
      'POST',
      () => '/v1/alerts',
      (application_id) => ({ application_id, ...newAlert }),
    ),
  },
  {
    action: 'alert.changed',
    by: 'API',
    prepare: async ({ tenant }) => {
      const id = await makeAlert(tenant);
      return () => worker.team(tenant, `/v1/alerts/${id}`, { method: 'PATCH', body: { enabled: false } });
    },
  },
  {
    action: 'alert.removed',
    by: 'API',
    prepare: async ({ tenant }) => {
      const id = await makeAlert(tenant);
      return () => worker.team(tenant, `/v1/alerts/${id}`, { method: 'DELETE' });
    },
  },
  {
    action: 'channel.created',
    by: 'dashboard',
    prepare: form((id) => `/alerts/channels?app=${id}`, hook),
  },
  {
    action: 'channel.removed',
    by: 'dashboard',
    prepare: after(
      ({ owner }) => owner.post('/alerts/channels', hook),
      '/alerts',
      /\/alerts\/channels\/chn_\w+\/remove/,
    ),
  },
  {
    action: 'note.created',
    by: 'API',
    prepare: api(
      'POST',
      () => '/v1/notes',
      (id) => ({ application_id: id, day: '2026-03-01', text: 'Sale' }),
    ),
  },
  { action: 'note.created', by: 'dashboard', prepare: form(() => '/notes', note) },
  {
    action: 'note.changed',
    by: 'dashboard',
    prepare: async (on) => {
      const path = await noted(on);
      return () => on.owner.post(path, { text: 'A sale' });
    },
  },
  {
    action: 'note.removed',
    by: 'dashboard',
    prepare: after(({ owner }) => owner.post('/notes', note), '/notes', /\/notes\/not_\w+\/remove/),
  },
  { action: 'view.saved', by: 'dashboard', prepare: form(() => '/views', { address: '/ltv', name: 'LTV' }) },
  {
    action: 'view.removed',
    by: 'dashboard',
    prepare: after(
      ({ owner }) => owner.post('/views', { address: '/ltv', name: 'LTV' }),
      '/views',
      /\/views\/viw_\w+\/remove/,
    ),
  },
  {
    action: 'share_link.created',
    by: 'dashboard',
    prepare: form(() => '/views/links', { address: '/ltv', note: 'Ann', days: '7' }),
  },
  {
    action: 'share_link.revoked',
    by: 'dashboard',
    prepare: after(
      ({ owner }) => owner.post('/views/links', { address: '/ltv', note: 'Ann', days: '7' }),
      '/views',
      /\/views\/links\/\w+\/revoke/,
    ),
  },
  {
    action: 'cost_names.mapped',
    by: 'dashboard',
    prepare: async (on) => {
      const fields = await unmatchedCosts(on);
      return () => on.owner.post('/costs/names', fields);
    },
  },
  {
    action: 'cost_names.unmapped',
    by: 'dashboard',
    prepare: async (on) => {
      await on.owner.post('/costs/names', await unmatchedCosts(on));
      return () => on.owner.post('/costs/names/remove', { campaign: 'Spring', adset: '', creative: '' });
    },
  },
  {
    action: 'costs.deleted',
    by: 'dashboard',
    prepare: async ({ owner }) => {
      await owner.post('/costs', { csv });
      return () => owner.post('/costs/row/delete', { date: '2026-03-01', campaign: 'Spring' });
    },
  },
  {
    action: 'exchange_rates.uploaded',
    by: 'dashboard',
    prepare: form(() => '/costs/rates', { date: '2026-03-01', currency: 'eur', rate: '1.08', base: 'usd' }),
  },
  {
    action: 'member.password_reset_created',
    by: 'dashboard',
    prepare: async ({ tenant, owner }) => {
      const [self] = await listMembers(db, tenant.team.id);
      return () => owner.post(`/settings/members/${self?.userId}/password-reset`);
    },
  },
  {
    action: 'member.password_changed',
    by: 'dashboard',
    prepare: form(() => '/settings/account', { current: PASSWORD, next: `another ${PASSWORD}` }),
  },
  {
    action: 'member.second_factor_added',
    by: 'dashboard',
    prepare: async ({ owner }) => {
      const code = await codeOf(await newAppKey(owner));
      return () => owner.post('/settings/account/app/confirm', { code });
    },
  },
  {
    action: 'member.second_factor_removed',
    by: 'dashboard',
    prepare: async ({ owner }) => {
      const code = await codeOf(await newAppKey(owner));
      await owner.post('/settings/account/app/confirm', { code });
      return () => owner.post('/settings/account/app/remove', { password: PASSWORD });
    },
  },
  {
    action: 'member.passkey_removed',
    by: 'dashboard',
    prepare: async ({ tenant, owner }) => {
      const [self] = await listMembers(db, tenant.team.id);
      const row = { userId: self?.userId ?? '', name: 'Laptop', publicKey: 'x', counter: 0 };
      const id = crypto.randomUUID();
      const more = { deviceType: 'singleDevice', backedUp: false, confirmed: true };
      await db.insert(passkeys).values({ ...row, ...more, id, credentialID: id });
      return () => owner.post(`/settings/account/passkeys/${id}/remove`);
    },
  },
  {
    action: 'member.password_reset',
    by: 'dashboard',
    prepare: async (on) => {
      const path = await resetLink(on);
      return () => on.owner.post(path, { password: `another ${PASSWORD}` });
    },
  },
  {
    action: 'application.created',
    by: 'API',
    prepare: api(
      'POST',
      () => '/v1/applications',
      () => ({ name: 'Chess' }),
    ),
  },
  {
    action: 'application.changed',
    by: 'API',
    prepare: api(
      'PATCH',
      (id) => `/v1/applications/${id}`,
      () => ({ name: 'Chess' }),
    ),
  },
  {
    action: 'application.deleted',
    by: 'API',
    prepare: api(
      'DELETE',
      (id) => `/v1/applications/${id}`,
      () => ({ name: 'Test game' }),
    ),
  },
  {
    action: 'api_key.regenerated',
    by: 'API',
    prepare: api(
      'POST',
      (id) => `/v1/applications/${id}/api-key`,
      () => ({ grace_hours: 1 }),
    ),
  },
  {
    action: 'intake_secret.created',
    by: 'API',
    prepare: api(
      'POST',
      (id) => `/v1/applications/${id}/intake-secret`,
      () => ({ grace_hours: 1 }),
    ),
  },
  {
    action: 'creative.created',
    by: 'API',
    prepare: async ({ tenant }) => {
      const body = { creative: 'Dragon', app_api_key: tenant.apiKey };
      return () => worker.team(tenant, '/v1/creatives', { method: 'POST', body });
    },
  },
  {
    action: 'creative.external_ids_saved',
    by: 'API',
    prepare: async ({ tenant }) => {
      const { id } = await createCreative(worker, tenant);
      const body = { external_ids: [{ network: 'meta', id: '23854855793500701' }] };
      return () => worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body });
    },
  },
  ...(['campaign', 'adset'] as const).map(
    (kind): Change => ({
      action: `${kind}.external_ids_saved`,
      by: 'API',
      prepare: async ({ tenant }) => {
        await createCreative(worker, tenant);
        const list = `/v1/${kind}s?application_id=${tenant.application.id}`;
        const { data } = await (await worker.team(tenant, list)).json<{ data: [{ id: string }] }>();
        const body = { external_ids: [{ network: 'meta', id: '23854855793350701' }] };
        return () => worker.team(tenant, `/v1/${kind}s/${data[0].id}`, { method: 'PATCH', body });
      },
    }),
  ),
  ...(['creative.archived', 'creative.unarchived'] as const).map(
    (action): Change => ({
      action,
      by: 'API',
      prepare: async ({ tenant }) => {
        const { id } = await createCreative(worker, tenant);
        const archive = (archived: boolean) =>
          worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body: { archived } });
        if (action === 'creative.unarchived') await archive(true);
        return () => archive(action === 'creative.archived');
      },
    }),
  ),
  {
    action: 'destination.created',
    by: 'API',
    prepare: api(
      'POST',
      () => '/v1/destinations',
      (application_id) => ({ application_id, ...destination }),
    ),
  },
  {
    action: 'destination.changed',
    by: 'API',
    prepare: onDestination('PATCH', '', { events: ['purchase'] }),
  },
  { action: 'destination.secret_rotated', by: 'API', prepare: onDestination('POST', '/rotate') },
  { action: 'destination.tested', by: 'API', prepare: onDestination('POST', '/test') },
  {
    action: 'destination.replayed',
    by: 'API',
    prepare: onDestination('POST', '/replay', { from: '2026-03-01', to: '2026-03-02' }),
  },
  { action: 'destination.removed', by: 'API', prepare: onDestination('DELETE') },
  {
    action: 'connector.created',
    by: 'API',
    prepare: api(
      'POST',
      () => '/v1/connectors',
      (application_id) => ({ application_id, ...connector }),
    ),
  },
  {
    action: 'connector.credentials_replaced',
    by: 'API',
    prepare: async ({ tenant }) => {
      const id = await connected(tenant);
      const body = { credentials: connector.credentials };
      return () => worker.team(tenant, `/v1/connectors/${id}`, { method: 'PATCH', body });
    },
  },
  {
    action: 'connector.run',
    by: 'API',
    prepare: async ({ tenant }) => {
      const id = await connected(tenant);
      return () => worker.team(tenant, `/v1/connectors/${id}/run`, { method: 'POST' });
    },
  },
  {
    action: 'connector.backfill',
    by: 'API',
    prepare: async ({ tenant }) => {
      const id = await connected(tenant);
      const yesterday = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
      const body = { from: yesterday, to: yesterday };
      return () => worker.team(tenant, `/v1/connectors/${id}/backfill`, { method: 'POST', body });
    },
  },
  {
    action: 'connector.removed',
    by: 'API',
    prepare: async ({ tenant }) => {
      const id = await connected(tenant);
      return () => worker.team(tenant, `/v1/connectors/${id}`, { method: 'DELETE' });
    },
  },
  {
    action: 'creative.link_changed',
    by: 'API',
    prepare: async ({ tenant }) => {
      const { id } = await createCreative(worker, tenant);
      return () =>
        worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body: { deep_link: '/levels/3' } });
    },
  },
  {
    action: 'creative.network_changed',
    by: 'API',
    prepare: async ({ tenant }) => {
      const { id } = await createCreative(worker, tenant);
      return () =>
        worker.team(tenant, `/v1/creatives/${id}`, { method: 'PATCH', body: { network: 'TikTok Ads' } });
    },
  },
  {
    action: 'costs.uploaded',
    by: 'API',
    prepare: api(
      'PUT',
      () => '/v1/costs',
      (application_id) => ({ application_id, rows: costs }),
    ),
  },
  {
    action: 'costs.deleted',
    by: 'API',
    prepare: async ({ tenant }) => {
      const application_id = tenant.application.id;
      const call = (method: string, rows: object[]) =>
        worker.team(tenant, '/v1/costs', { method, body: { application_id, rows } });
      await call('PUT', costs);
      return () => call('DELETE', [{ date: '2026-03-01', campaign: 'Spring' }]);
    },
  },
  {
    action: 'exchange_rates.uploaded',
    by: 'API',
    prepare: api(
      'PUT',
      () => '/v1/exchange-rates',
      () => ({
        date: '2026-03-01',
        base: 'usd',
        rates: { eur: 1.08 },
      }),
    ),
  },
  ...(['app_store_app.confirmed', 'app_store_app.moved'] as const).map(
    (action): Change => ({
      action,
      by: 'dashboard',
      prepare: async ({ tenant, owner }) => {
        // The owner of the first team decides.
        await env.DB.prepare('UPDATE teams SET created_at = (id <> ?)').bind(tenant.team.id).run();
        const { id } = tenant.application;
        const body = { name: 'Go', ios_store_url: 'https://apps.apple.com/app/id770010041' };
        await env.DB.prepare('UPDATE applications SET ios_store_url = NULL, app_store_id = NULL').run();
        const made = await worker.team(tenant, '/v1/applications', { method: 'POST', body });
        const holder = await made.json<{ id: string }>();
        const application_id = action === 'app_store_app.moved' ? id : holder.id;
        return () => owner.post('/skan/apps', { app_store_id: '770010041', application_id });
      },
    }),
  ),
  {
    action: 'skan_schema.saved',
    by: 'API',
    prepare: api(
      'PUT',
      (id) => `/v1/applications/${id}/skan-schema`,
      () => ({ versions: [{ valid_from: '2026-03-01', currency: 'usd' }] }),
    ),
  },
  ...(['device.erased', 'token.revoked'] as const).map(
    (action): Change => ({
      action,
      by: 'API',
      prepare: async ({ tenant }) => {
        const token = await fetchToken(worker, tenant);
        await settleAll(tenant.application.id);
        const path = `/v1/${action === 'device.erased' ? 'devices' : 'tokens'}/${token}`;
        return () => worker.team(tenant, path, { method: 'DELETE' });
      },
    }),
  ),
  {
    action: 'parked_message.replayed',
    by: 'API',
    prepare: async (on) => {
      const id = await park(on);
      return () => worker.team(on.tenant, `/v1/parked/${id}/replay`, { method: 'POST' });
    },
  },
  {
    action: 'parked_message.discarded',
    by: 'API',
    prepare: async (on) => {
      const id = await park(on);
      return () => worker.team(on.tenant, `/v1/parked/${id}`, { method: 'DELETE' });
    },
  },
  {
    action: 'application.created',
    by: 'dashboard',
    prepare: form(() => '/settings/applications', { name: 'Chess', timezone: 'UTC', currency: 'usd' }),
  },
  {
    action: 'application.changed',
    by: 'dashboard',
    prepare: form((id) => `/settings/applications/${id}`, {
      name: 'Chess',
      timezone: 'UTC',
      currency: 'usd',
      attribution_window_hours: '24',
      probabilistic_window_hours: '0',
      view_window_hours: '0',
    }),
  },
  { action: 'api_key.shown', by: 'dashboard', prepare: form((id) => `/settings/applications/${id}/key`) },
  {
    action: 'api_key.regenerated',
    by: 'dashboard',
    prepare: form((id) => `/settings/applications/${id}/new-key`, { grace_hours: '1' }),
  },
  {
    action: 'intake_secret.created',
    by: 'dashboard',
    prepare: form((id) => `/settings/applications/${id}/intake-secret`, { grace_hours: '1' }),
  },
  {
    action: 'access_token.created',
    by: 'dashboard',
    prepare: form(() => '/settings/tokens', { name: 'CI', days: '90' }),
  },
  ...(['access_token.revoked', 'access_token.taken_over'] as const).map(
    (action): Change => ({
      action,
      by: 'dashboard',
      prepare: async ({ tenant, owner }) => {
        const [token] = await listAccessTokens(db, tenant.team.id);
        const path = action === 'access_token.revoked' ? 'revoke' : 'take-over';
        return () => owner.post(`/settings/tokens/${token?.id}/${path}`);
      },
    }),
  ),
  {
    action: 'access_token.taken_over',
    by: 'dashboard',
    prepare: async ({ tenant, owner }) => {
      const [token] = await listAccessTokens(db, tenant.team.id);
      return () => owner.post(`/settings/tokens/${token?.id}/take-over`);
    },
  },
  {
    action: 'creative.created',
    by: 'dashboard',
    prepare: form((id) => `/creatives?app=${id}`, { creative: 'Dragon' }),
  },
  ...(['creative.archived', 'creative.unarchived'] as const).map(
    (action): Change => ({
      action,
      by: 'dashboard',
      prepare: async ({ tenant, owner }) => {
        const { id } = await createCreative(worker, tenant);
        const archive = (archived: string) => owner.post(`/creatives/${id}/archive`, { archived });
        if (action === 'creative.unarchived') await archive('yes');
        return () => archive(action === 'creative.archived' ? 'yes' : 'no');
      },
    }),
  ),
  { action: 'costs.uploaded', by: 'dashboard', prepare: form((id) => `/costs?app=${id}`, { csv }) },
  {
    action: 'parked_message.replayed',
    by: 'dashboard',
    prepare: async (on) => {
      const id = await park(on);
      return () => on.owner.post(`/status/${id}/replay`);
    },
  },
  {
    action: 'parked_message.discarded',
    by: 'dashboard',
    prepare: async (on) => {
      const id = await park(on);
      return () => on.owner.post(`/status/${id}/discard`);
    },
  },
  {
    action: 'member.invited',
    by: 'dashboard',
    prepare: form(() => '/settings/members', { note: 'Ann', role: 'viewer' }),
  },
  {
    action: 'member.invitation_withdrawn',
    by: 'dashboard',
    prepare: async (on) => {
      await invitation(on);
      const [open] = await listInvitations(db, on.tenant.team.id, Date.now());
      return () => on.owner.post(`/settings/members/invitations/${open?.hash}/withdraw`);
    },
  },
  {
    action: 'member.joined',
    by: 'dashboard',
    prepare: async (on) => {
      const path = await invitation(on);
      const email = `ann-${crypto.randomUUID()}@team.test`;
      const body = new URLSearchParams({ name: 'Ann', email, password: PASSWORD }).toString();
      return () => worker.request(path, { method: 'POST', headers: FORM, body });
    },
  },
  {
    action: 'member.role_changed',
    by: 'dashboard',
    prepare: async (on) => {
      const id = await member(on);
      return () => on.owner.post(`/settings/members/${id}/role`, { role: 'admin' });
    },
  },
  {
    action: 'member.removed',
    by: 'dashboard',
    prepare: async (on) => {
      const id = await member(on);
      return () => on.owner.post(`/settings/members/${id}/remove`);
    },
  },
  {
    action: 'team.created',
    by: 'dashboard',
    prepare: async () => {
      await db.delete(members);
      const fields = { name: 'Ann', email: `first-${crypto.randomUUID()}@team.test`, password: PASSWORD };
      const body = new URLSearchParams({ ...fields, team: 'First team' }).toString();
      return () => worker.request('/setup', { method: 'POST', headers: FORM, body });
    },
  },
];

const rows = async () => (await dump(['audit_log'])).audit_log ?? [];

/** What was recorded since. */
async function recordedSince(before: readonly string[]) {
  const added = (await rows()).filter((row) => !before.includes(row));
  return added.map((row) => JSON.parse(row) as { team_id: string; actor: string; action: string });
}

async function prepared({ prepare }: Change) {
  const tenant = await createTenant();
  const person = await createPerson(tenant.team, 'owner');
  const owner = await openSession(worker, person);
  const change = await prepare({ tenant, owner });
  return { tenant, email: person.email, change, before: await rows() };
}

const name = (change: Change) => [`${change.action} by the ${change.by}`, change] as const;

describe.each(CHANGES.map(name))('%s', (_, change) => {
  it('is recorded once, with its actor', async () => {
    const { tenant, email, change: make, before } = await prepared(change);
    expect((await make()).status).toBeLessThan(400);
    const recorded = await recordedSince(before);
    expect(recorded.map(({ action }) => action)).toEqual([change.action]);
    if (change.action === 'member.joined' || change.action === 'team.created') return;
    const actor = change.by === 'API' ? expect.stringMatching(/^access token tkn_[0-9a-f]{32}$/) : email;
    expect(recorded).toMatchObject([{ team_id: tenant.team.id, actor }]);
  });
});

describe('in the same transaction', () => {
  let tables: string[] = [];

  // Triggers that are switched on: to create and drop them for each test would take longer than the tests.
  beforeAll(async () => {
    // What a session's own renewal or the notes of refused requests change is no one's doing.
    tables = (await tableNames()).filter((table) => !['audit_log', 'sessions', 'rejections'].includes(table));
    const triggers = [...tables, 'audit_log'].flatMap((table) =>
      ['INSERT', 'UPDATE', 'DELETE'].map((kind) =>
        env.DB.prepare(
          `CREATE TRIGGER refuse_${kind}_${table} BEFORE ${kind} ON ${table}
           WHEN EXISTS (SELECT 1 FROM refused_tables WHERE name = '${table}')
           BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`,
        ),
      ),
    );
    await env.DB.batch([env.DB.prepare('CREATE TABLE refused_tables (name TEXT)'), ...triggers]);
  });

  /** Makes every change of a row in these tables fail. */
  const refuse = (names: readonly string[]) =>
    env.DB.prepare('INSERT INTO refused_tables SELECT value FROM json_each(?)')
      .bind(JSON.stringify(names))
      .run();

  afterEach(async () => {
    await env.DB.prepare('DELETE FROM refused_tables').run();
  });

  it.each(CHANGES.map(name))('%s is rolled back if it cannot be recorded', async (_, change) => {
    const { change: make, before } = await prepared(change);
    const state = await dump(tables);
    await refuse(['audit_log']);
    expect((await make()).status).toBe(500);
    expect(await dump(tables)).toEqual(state);
    expect(await recordedSince(before)).toEqual([]);
  });

  // These change nothing in this database.
  const elsewhere = ['api_key.shown', 'destination.tested', 'destination.replayed'];
  const changing = CHANGES.filter(({ action }) => !elsewhere.includes(action));
  it.each(changing.map(name))('%s is not recorded if it fails', async (_, change) => {
    const { change: make, before } = await prepared(change);
    await refuse(tables);
    expect((await make()).status).toBe(500);
    expect(await recordedSince(before)).toEqual([]);
  });
});

it('covers every action', () => {
  // What resuming changes is not in this database: test/operations has it. A new passkey is confirmed by its record:
  // test/dashboard/passkeys.slow.test.ts.
  const covered = [
    ...new Set(CHANGES.map(({ action }) => action)),
    'counting.resumed',
    'member.passkey_added',
  ];
  expect(covered.sort()).toEqual([...AUDIT_ACTIONS].sort());
});

it('names the subject of a change, never a secret', async () => {
  const tenant = await createTenant();
  const { id } = tenant.application;
  await worker.team(tenant, `/v1/applications/${id}`, { method: 'PATCH', body: { name: 'Renamed' } });
  await worker.team(tenant, `/v1/applications/${id}/api-key`, { method: 'POST', body: { grace_hours: 1 } });
  const log = await listAudit(db, tenant.team.id, { limit: 20 });
  expect(log.map(({ subject }) => subject)).toEqual([`Renamed (${id}), grace 1 h`, `Renamed (${id})`]);
  expect(JSON.stringify(log)).not.toContain(tenant.teamToken);
});
