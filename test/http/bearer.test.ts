import { expect, it } from 'vitest';
import { beginRestore } from '../helpers/backup.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Every route with a bearer token reads it the same way.

const METRICS_TOKEN = 'a-metrics-token-of-the-tests-0000000000';
const worker = startWorker({ METRICS_TOKEN } as Partial<Env>);

/** The routes, and a token that each accepts. A restore begins before there is a team. */
const secret = (await beginRestore()).secret;
const { apiKey } = await createTenant();
const TOKENS = { '/auth': apiKey, '/metrics': METRICS_TOKEN, '/restore/objects': secret };
const ROUTES = Object.entries(TOKENS);

const statusOf = async (route: string, header: string | null) =>
  (await worker.request(route, header === null ? {} : { headers: { Authorization: header } })).status;

it.each(ROUTES)('%s ignores the case of the scheme and the number of spaces', async (route, token) => {
  for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'Bearer    ', 'Bearer\t']) {
    expect(await statusOf(route, scheme + token), scheme).toBe(200);
    expect(await statusOf(route, `${scheme}${token}  `), scheme).toBe(200);
  }
});

it.each(ROUTES)('%s refuses any other header', async (route, token) => {
  for (const header of [null, '', 'Bearer', 'Bearer ', token, `Basic ${token}`, `Bearer${token}`]) {
    expect(await statusOf(route, header), String(header)).toBe(401);
  }
  expect(await statusOf(route, `Bearer ${token} more`)).toBe(401);
  expect(await statusOf(route, `My Bearer ${token}`)).toBe(401);
});
