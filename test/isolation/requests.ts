import { type Endpoint, EXAMPLE } from '#http';
import { addDays } from '#lib/time';
import { ENDPOINTS } from '../../src/service.ts';
import { FROM, METRICS_TOKEN, type Side, TO, worker } from './sides.ts';

// The requests of every documented endpoint, made of its own examples with the ids of a side.

type Things = Partial<Side['things']>;

/** The examples' ids, each with the real one. Periods become that of the history. */
export function filled(text: string, things: Things): string {
  const withIds = Object.entries(things).reduce(
    (result, [name, real]) => result.replaceAll(EXAMPLE[name as keyof typeof EXAMPLE], real),
    text,
  );
  return withIds
    .replaceAll(EXAMPLE.to, TO)
    .replaceAll(/2026-03-(0\d)/g, (_, day: string) => addDays(FROM, Number(day) - 1));
}

/** The path and query of an endpoint's example. */
export function pathOf({ path, params = {}, query }: Endpoint, things: Things): string {
  const withParams = Object.entries(params).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, value),
    path,
  );
  const examples = Object.entries(query?.example ?? {}).map(([name, value]) => [name, String(value)]);
  const search = new URLSearchParams(examples as [string, string][]);
  return filled(`${withParams}${search.size > 0 ? `?${search}` : ''}`, things);
}

export type Example = { endpoint: Endpoint; name: string; body: string | undefined; type: string };

/** Each endpoint with each of its bodies. What replaces a key or deletes something goes last. */
export const EXAMPLES: readonly Example[] = ENDPOINTS.flatMap((endpoint): Example[] => {
  const json = Object.entries(endpoint.body?.examples ?? {}).map(([name, value]) => ({
    ...{ endpoint, name, body: JSON.stringify(value), type: 'application/json' },
  }));
  const text = Object.entries(endpoint.text ?? {}).map(([type, body]) => ({
    ...{ endpoint, name: type, body, type },
  }));
  const all = [...json, ...text];
  return all.length > 0 ? all : [{ endpoint, name: '', body: undefined, type: 'application/json' }];
}).sort((left, right) => order(left.endpoint) - order(right.endpoint));

function order({ method, path }: Endpoint): number {
  if (method === 'delete') return 2;
  return /api-key|intake-secret|rotate/.test(path) ? 1 : 0;
}

/** The headers with a side's credential for an endpoint. */
function credentialsOf({ credential }: Endpoint, { tenant }: Side): Record<string, string> {
  const { apiKey, teamToken } = tenant;
  return {
    apiKey: { 'service-api-key': apiKey },
    apiOrBearerKey: { Authorization: `Bearer ${apiKey}` },
    teamToken: { 'Service-Token': teamToken },
    metricsToken: { Authorization: `Bearer ${METRICS_TOKEN}` },
    assistantToken: { Authorization: `Bearer ${teamToken}` },
    null: {} as Record<string, string>,
  }[credential ?? 'null'];
}

/** Sends an endpoint's example with the credential of `as` and the ids of `things`. */
export function send(
  endpoint: Endpoint,
  as: Side,
  things: Things,
  example?: Pick<Example, 'body' | 'type'>,
  to: Pick<typeof worker, 'request'> = worker,
): Promise<Response> {
  const { body, type = 'application/json' } = example ?? {};
  return to.request(pathOf(endpoint, things), {
    method: endpoint.method.toUpperCase(),
    redirect: 'manual',
    headers: { 'Content-Type': type, ...credentialsOf(endpoint, as) },
    ...(body === undefined ? {} : { body: filled(body, things) }),
  });
}
