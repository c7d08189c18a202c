import type { StoredHistory } from './stores.ts';

// What the team API can be asked about the stores of a release, as its OpenAPI document lists it, so that no endpoint is forgotten.

type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  schema?: { example?: unknown; enum?: string[]; items?: { enum?: string[] } };
};

export type ApiDocument = {
  paths: Record<string, { get?: { parameters?: Parameter[] } }>;
};

/** What stands in the place of the document's examples: values by parameter of a query, ids by the part of a path before them. */
export type Facts = { application_id: string; from: string; to: string } & Record<string, string>;

const text = (value: unknown) => (Array.isArray(value) ? value.join() : String(value));

function toPath(path: string, parameters: Iterable<readonly [name: string, value: unknown]>): string {
  const query = new URLSearchParams([...parameters].map(([name, value]) => [name, text(value)]));
  return `${path}?${query}`;
}

/** Which of these a comparison requires depends on the others. */
const OF_COMPARISON = ['by', 'a', 'b'];

/** Each report, once with what it requires, once with every example that does not filter, and once for each value of its grouping. */
function* ofReport(path: string, parameters: readonly Parameter[], facts: Facts): Generator<string> {
  const asked = new Map(
    parameters.filter(({ in: place }) => place === 'query').map((one) => [one.name, one]),
  );
  const exampleOf = (name: string) => asked.get(name)?.schema?.example;
  const isRequired = (name: string) =>
    asked.get(name)?.required || (path.endsWith('/compare') && OF_COMPARISON.includes(name));
  const required = [...asked.keys()]
    .filter(isRequired)
    .map((name) => [name, facts[name] ?? exampleOf(name)] as const);
  yield toPath(path, required);
  const more = ['days', 'cohort', 'steps', 'horizon_days', 'window_hours', 'metrics', 'currency', 'limit'];
  const examples = more.filter((name) => asked.has(name)).map((name) => [name, exampleOf(name)] as const);
  yield toPath(path, new Map([...required, ...examples]));
  const { enum: values, items } = asked.get('group_by')?.schema ?? {};
  for (const value of values ?? items?.enum ?? [])
    yield toPath(path, new Map([...required, ['group_by', value]]));
}

/** The paths of every report. */
const reportsIn = ({ paths }: ApiDocument, facts: Facts): string[] =>
  Object.entries(paths).flatMap(([path, { get }]) =>
    get && path.startsWith('/v1/reports/') ? [...ofReport(path, get.parameters ?? [], facts)] : [],
  );

/** How things are at the moment, what `reportsIn` has, and what only the owner of the deployment sees. */
const LEFT_OUT = ['/v1/health', '/v1/reports/', '/v1/app-store-apps'];

/** The paths of everything else that a team can read, but for those that need an id that the facts lack. */
const readsIn = ({ paths }: ApiDocument, facts: Facts): string[] =>
  Object.entries(paths).flatMap(([template, { get }]) => {
    if (!get || !template.startsWith('/v1/') || LEFT_OUT.some((start) => template.startsWith(start)))
      return [];
    const path = template.replaceAll(/(\w+)\/\{\w+\}/g, (found, kind: string) =>
      facts[kind] === undefined ? found : `${kind}/${facts[kind]}`,
    );
    if (path.includes('{')) return [];
    const parameters = (get.parameters ?? [])
      .filter(({ in: place }) => place === 'query')
      .filter(({ name, required }) => required || name in facts)
      .map(({ name, schema }) => [name, facts[name] ?? schema?.example] as const);
    return [toPath(path, parameters)];
  });

/** What the stores of a release can be asked with. */
export const factsOf = ({ application_id, from, to, tokens }: StoredHistory): Facts => ({
  ...{ application_id, from, to, limit: '200' },
  ...{ applications: application_id, devices: tokens.us ?? '' },
});

/** Every question about the stores. */
export const questionsIn = (document: ApiDocument, facts: Facts): string[] => [
  ...reportsIn(document, facts),
  ...readsIn(document, facts),
];

/** Without what depends on when it was asked. */
export function settledPart(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  if (Array.isArray(answer)) return answer.map(settledPart);
  const { counted_through: _, ...kept } = answer as Record<string, unknown>;
  return Object.fromEntries(Object.entries(kept).map(([name, value]) => [name, settledPart(value)]));
}
