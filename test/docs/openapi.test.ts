import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DIMENSIONS } from '#catalogue';
import { EXAMPLE } from '#http';
import { openApiDocument } from '../../src/docs/document.ts';
import { ENDPOINTS, service, teamApi } from '../../src/service.ts';
import { ANDROID_AGENT, follow } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { Page } from '../helpers/page.ts';
import { parkMessage } from '../helpers/parked.ts';
import { createPerson } from '../helpers/person.ts';
import { destinationObject, Receiver } from '../helpers/receiver.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

type Schema = z.core.JSONSchema.BaseSchema;
type Media = { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> };
type Response = { content?: Record<string, Media> };
type Parameter = {
  name: string;
  in: string;
  style?: string;
  explode?: boolean;
  schema: Schema & { example?: unknown };
};
type Documented = {
  operationId: string;
  security: Record<string, never[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
};

const document = openApiDocument('service', ENDPOINTS) as unknown as {
  paths: Record<string, Record<string, Documented>>;
  components: { schemas: Record<string, Schema> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** A schema with its references put in, because each is checked alone. */
function resolved(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(resolved);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema)
    return resolved(document.components.schemas[String(schema.$ref).split('/').at(-1) ?? '']);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolved(value)]));
}

const faultsOf = (schema: unknown, value: unknown) => {
  const checked = z.fromJSONSchema(resolved(schema) as z.core.JSONSchema.JSONSchema).safeParse(value);
  return checked.success ? [] : checked.error.issues;
};

const METRICS_TOKEN = 'a-token-for-monitoring-0123456789abcdef';
const worker = startWorker({ METRICS_TOKEN } as Partial<Env>);
let tenant: Tenant;
let own: Record<string, string>;

beforeAll(async () => {
  tenant = await createTenant({
    android_store_url: 'https://play.google.com/store/apps/details?id=com.example',
    ios_store_url: 'https://apps.apple.com/app/id525463029',
  });
  const { email } = await createPerson(tenant.team, 'owner');
  await env.DB.batch([
    env.DB.prepare('UPDATE access_tokens SET created_by = ? WHERE team_id = ?').bind(email, tenant.team.id),
    env.DB.prepare('UPDATE teams SET created_at = 0 WHERE id = ?').bind(tenant.team.id),
  ]);
  const creative = await createCreative(worker, tenant, { campaign: 'Spring', adset: 'Young' });
  const shown = await worker.team(tenant, `/v1/creatives/${creative.id}`);
  const within = await shown.json<{ campaign_id: string; adset_id: string }>();
  const token = await fetchToken(worker, tenant, {
    created_at: '2026-03-02T09:00:00Z',
    data: { creative_token: creative.token },
  });
  const taken = await worker.post(tenant, '/webhook', {
    type: 'custom.ad',
    created_at: '2026-03-02 10:00:00',
    creativeToken: token,
    payload: { ad_id: 'a', source: 'banner', value: 0.5, currency: 'eur', total_ad_value: 2 },
  });
  const { event_id }: { event_id: string } = await taken.json();
  await worker.deliver(worker.queue.take());
  const { publicId } = await follow(worker, creative.path, ANDROID_AGENT);
  for (const id of [EXAMPLE.parked, EXAMPLE.discarded]) {
    await parkMessage(tenant.application.id, { id });
  }
  const retired = await worker.team(tenant, '/v1/applications', {
    method: 'POST',
    body: { name: 'Retired game' },
  });
  const noted = await worker.team(tenant, '/v1/notes', {
    method: 'POST',
    body: { application_id: tenant.application.id, day: '2026-03-01', text: 'Sale' },
  });
  const watched = await worker.team(tenant, '/v1/alerts', {
    method: 'POST',
    body: { application_id: tenant.application.id, kind: 'no_events', threshold: 2 },
  });
  const connected = await worker.team(tenant, '/v1/connectors', {
    method: 'POST',
    body: {
      application_id: tenant.application.id,
      kind: 'meta',
      settings: { account_id: '1' },
      credentials: { access_token: 'a' },
    },
  });
  const sentTo = await worker.team(tenant, '/v1/destinations', {
    method: 'POST',
    body: {
      application_id: tenant.application.id,
      kind: 'webhook',
      url: 'https://hooks.example.com/',
      events: ['install'],
    },
  });
  const { id: destinationId } = await sentTo.json<{ id: string }>();
  await destinationObject(destinationId, new Receiver()).inside(() => undefined);
  const applicationPath = `/v1/applications/${tenant.application.id}`;
  const impression_template = { preset: 'max' };
  await worker.team(tenant, applicationPath, { method: 'PATCH', body: { impression_template } });
  const intake = await worker.team(tenant, `${applicationPath}/intake-secret`, { method: 'POST', body: {} });
  own = {
    [EXAMPLE.intakeSecret]: (await intake.json<{ intake_secret: string }>()).intake_secret,
    [EXAMPLE.destination]: destinationId,
    [EXAMPLE.connector]: (await connected.json<{ id: string }>()).id,
    [EXAMPLE.alert]: (await watched.json<{ id: string }>()).id,
    [EXAMPLE.note]: (await noted.json<{ id: string }>()).id,
    [EXAMPLE.retiredApplication]: (await retired.json<{ id: string }>()).id,
    [EXAMPLE.application]: tenant.application.id,
    [EXAMPLE.token]: token,
    [EXAMPLE.event]: event_id,
    [EXAMPLE.campaign]: within.campaign_id,
    [EXAMPLE.adset]: within.adset_id,
    [EXAMPLE.creative]: creative.id,
    [EXAMPLE.link]: creative.token,
    [EXAMPLE.click]: publicId,
    [EXAMPLE.apiKey]: tenant.apiKey,
  };
});

/** The reader's own things in the place of the examples'. */
const mine = (text: string) =>
  Object.entries(own).reduce((filled, [example, real]) => filled.replaceAll(example, real), text);

type Call = { path: string; operation: Documented; method: string; body?: unknown; credentials?: boolean };

function call({ path, operation, method, body, credentials = true }: Call) {
  let address = path;
  const query = new URLSearchParams();
  for (const parameter of operation.parameters ?? []) {
    const example = parameter.schema.example;
    if (example === undefined) continue;
    if (parameter.in === 'path') address = address.replace(`{${parameter.name}}`, String(example));
    if (parameter.in === 'query') query.set(parameter.name, mine(String(example)));
  }
  const [credential = ''] = Object.keys(operation.security[0] ?? {});
  const secrets: Record<string, Record<string, string>> = {
    apiKey: { 'service-api-key': tenant.apiKey },
    bearerKey: { Authorization: `Bearer ${tenant.apiKey}` },
    teamToken: { 'Service-Token': tenant.teamToken },
    metricsToken: { Authorization: `Bearer ${METRICS_TOKEN}` },
    assistantToken: { Authorization: `Bearer ${tenant.teamToken}` },
  };
  return worker.request(`${mine(address)}?${query}`, {
    method: method.toUpperCase(),
    headers: { 'Content-Type': 'application/json', ...(credentials ? secrets[credential] : {}) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : mine(JSON.stringify(body)) }),
  });
}

const examples = operations
  .flatMap(({ path, method, operation }) => {
    const media = operation.requestBody?.content['application/json'];
    const text = operation.requestBody?.content['text/csv']?.example;
    const bodies = Object.entries(media?.examples ?? { '': { value: text } });
    return bodies.map(([name, { value }]) => ({ path, method, operation, name, body: value }));
  })
  // What replaces a key or erases the device goes last.
  .sort((left, right) => order(left) - order(right));
function order({ path, method }: { path: string; method: string }): number {
  return method === 'delete' ? 2 : path.endsWith('/api-key') || path.endsWith('/intake-secret') ? 1 : 0;
}

describe('the examples of', () => {
  it.each(examples)('$method $path $name', async ({ path, method, operation, body }) => {
    const media = operation.requestBody?.content['application/json'];
    if (media) {
      const own: object = JSON.parse(mine(JSON.stringify(body)));
      expect(faultsOf(media.schema, own)).toEqual([]);
      // No body refuses a field that it does not have.
      expect(faultsOf(media.schema, { ...own, a_field_of_a_newer_client: 1 })).toEqual([]);
    }
    const answer = await call({ path, method, operation, body });
    expect(Object.keys(operation.responses), `status ${answer.status}`).toContain(String(answer.status));
    expect(answer.status).toBeLessThan(400);
    const type = (answer.headers.get('Content-Type') ?? '').split(';')[0] ?? '';
    const content = operation.responses[answer.status]?.content;
    if (!content) return;
    expect(Object.keys(content)).toContain(type);
    if (type !== 'application/json') return;
    expect(faultsOf(content[type]?.schema, await answer.json())).toEqual([]);
    expect(faultsOf(content[type]?.schema, { not: 'documented' })).not.toEqual([]);
  });
});

describe('the errors of', () => {
  const secured = operations.filter(({ operation }) => operation.security.length > 0);

  it.each(secured)('$method $path without its credential', async ({ path, method, operation }) => {
    const answer = await call({ path, method, operation, credentials: false });
    expect(answer.status).toBe(401);
    const schema = operation.responses[401]?.content?.['application/json']?.schema;
    expect(faultsOf(schema, await answer.json())).toEqual([]);
    expect(answer.headers.get('Link')).toBe(`</docs#${operation.operationId}>; rel="help"`);
  });

  const withBody = secured.filter(({ operation }) => operation.requestBody);
  it.each(withBody)('$method $path with a body of nonsense', async ({ path, method, operation }) => {
    const answer = await call({ path, method, operation, body: [1] });
    expect(answer.status).toBe(400);
    const schema = operation.responses[400]?.content?.['application/json']?.schema;
    expect(faultsOf(schema, await answer.json())).toEqual([]);
  });
});

it('links errors only to operations of the document', async () => {
  const anchors = operations.map(({ operation }) => `</docs#${operation.operationId}>; rel="help"`);
  const links = [...service.routes, ...teamApi.routes].flatMap(async ({ method, path }) => {
    const address = path.replaceAll(/:\w+/g, 'x').replaceAll('*', 'x');
    const answers = await Promise.all([
      worker.request(address, { method: method === 'ALL' ? 'GET' : method }),
      worker.request(address, { method: 'PATCH' }),
    ]);
    return answers.flatMap((answer) => answer.headers.get('Link') ?? []);
  });
  const found = new Set((await Promise.all(links)).flat());
  expect(found.size).toBeGreaterThan(20);
  expect(anchors).toEqual(expect.arrayContaining([...found]));
});

it('documents every route of the API and nothing else', () => {
  // The dashboard's pages and every middleware are registered for all methods.
  const documentation = ['/openapi.json', '/docs'];
  const ofCommands = ['/restore', '/restore/objects', '/restore/objects/*', '/secrets-copy'];
  const served = [...service.routes, ...teamApi.routes]
    .filter(({ method, path }) => method !== 'ALL' && ![...documentation, ...ofCommands].includes(path))
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    // A route that also takes a slash at the end is documented without it.
    .map((route) => route.replace(/(?<=\w)\/$/, ''));
  const described = operations.map(({ path, method }) => `${method} ${path}`);
  expect(described.toSorted()).toEqual([...new Set(served)].toSorted());
});

describe('group_by', () => {
  const byReport = operations.flatMap(({ path, method, operation }) =>
    (operation.parameters ?? [])
      .filter(({ name }) => name === 'group_by')
      .map((own) => ({ path, method, operation, own })),
  );
  const valuesOf = ({ schema }: Parameter) => {
    const items = typeof schema.items === 'object' && 'enum' in schema.items ? schema.items : schema;
    return items.enum ?? [];
  };

  it.each(byReport)('lists the values that $path takes', async (parameter) => {
    const { own } = parameter;
    const values = valuesOf(own);
    const others = (parameter.operation.parameters ?? []).filter(({ name }) => name !== 'group_by');
    const isPerformance = parameter.path.endsWith('/performance');
    expect(values).toEqual(isPerformance ? Object.keys(DIMENSIONS) : expect.arrayContaining(['country']));
    const refused = async (value: string) => {
      const operation = {
        ...parameter.operation,
        parameters: [...others, { ...own, schema: { example: value } }],
      };
      return (await (await call({ ...parameter, operation })).text()).includes(' must be one ');
    };
    expect(await refused('planet')).toBe(true);
    for (const value of values) expect(await refused(String(value)), String(value)).toBe(false);
  });

  it('is a list separated by commas where it takes two', () => {
    const [performance] = byReport.filter(({ path }) => path.endsWith('/performance'));
    expect(performance?.own).toMatchObject({
      style: 'form',
      explode: false,
      schema: { type: 'array', minItems: 1, maxItems: 2, default: ['day'] },
    });
  });
});

it('names as its server the one that serves it', () => {
  expect(document).toMatchObject({ servers: [{ url: '/' }] });
});

it('is served with the configured header names, as is its page, which loads nothing from other sites', async () => {
  const served = await worker.request('/openapi.json');
  const body: {
    openapi: string;
    info: { title: string };
    components: { securitySchemes: Record<string, { name: string }> };
  } = await served.json();
  expect(body.openapi).toBe('3.1.1');
  expect(body.info.title).toBe('Attribution API');
  expect(body.components.securitySchemes).toMatchObject({
    apiKey: { name: 'service-api-key' },
    teamToken: { name: 'service-Token' },
  });
});

it('shows every operation, its fields and answers on a page without scripts and from its own origin', async () => {
  const answer = await worker.request('/docs');
  const policy = answer.headers.get('Content-Security-Policy')?.split('; ');
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "style-src 'self'"]));
  expect(policy?.some((rule) => rule.startsWith('script-src'))).toBe(false);
  const text = await answer.text();
  expect(text.length).toBeLessThan(1_000_000);
  const page = new Page(text);
  expect(page.all('script, [style], [src], link[href*="//"]')).toEqual([]);
  expect(
    page
      .all('section.operation')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(operations.map(({ operation }) => operation.operationId).toSorted());
  expect(page.all('nav li a').map((link) => link.getAttribute('href'))).toEqual(
    page.all('section.operation').map(({ id }) => `#${id}`),
  );
  const creative = new Page(page.one('#post-v1-creatives'));
  expect(creative.texts('.endpoint, .answers > li > .badge').slice(0, 3)).toEqual([
    'POST /v1/creatives',
    '201',
    '400',
  ]);
  expect(creative.row('Fields of the body', 'creative required').texts('td')).toEqual([
    'creative required',
    'string',
    'At most 255 characters.',
  ]);
  expect(creative.texts('pre')[0]).toContain('"creative": "Cat video"');
  const report = new Page(page.one('#get-v1-reports-performance'));
  expect(report.row('Fields of the answer 200', 'data[].day').texts('td').slice(1, 2)).toEqual([
    'string or null',
  ]);
});

it('says at every search how many letters it may have', () => {
  const searches = operations.flatMap(({ operation }) =>
    (operation.parameters ?? []).filter(({ name }) => name === 'q'),
  );
  expect(searches.length).toBeGreaterThan(3);
  for (const search of searches) {
    expect(JSON.stringify(search)).toContain('at most 60 different letters with upper and lower case');
  }
});
