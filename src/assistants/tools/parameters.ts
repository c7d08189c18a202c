import type * as z from 'zod';
import { type Endpoint, withExamples } from '#http';
import { type JsonSchema, ToolError, toJsonSchema } from './tool.ts';

/** The parameters of an endpoint of the team API, as arguments of a tool. */
export type Parameters = {
  properties: Readonly<Record<string, JsonSchema>>;
  required: readonly string[];
  /** Those that take several values as one text, separated by commas. */
  joined: ReadonlySet<string>;
};

/** Whether a parameter is documented as one text with commas, though its schema shows a list. */
const isJoined = (field: z.ZodType) => {
  const { param } = (field.meta() ?? {}) as { param?: { explode?: boolean } };
  return param?.explode === false;
};

/** The parameters of an endpoint's query, but the format, which is always JSON. */
export function parametersOf(endpoint: Endpoint): Parameters {
  if (!endpoint.query) return { properties: {}, required: [], joined: new Set() };
  const query = withExamples(endpoint.query);
  const { properties = {}, required = [] } = toJsonSchema(query, 'input') as Partial<Parameters>;
  const { format: _, ...known } = properties;
  // An id of the documentation is nobody's.
  const own = Object.entries(known).map(([name, { examples, ...schema }]) => [
    name,
    examples === undefined || name.endsWith('_id') ? schema : { ...schema, examples },
  ]);
  const joined = Object.entries<z.ZodType>(query.shape).filter(([, field]) => isJoined(field));
  return { properties: Object.fromEntries(own), required, joined: new Set(joined.map(([name]) => name)) };
}

/** Arguments as the query of a request. Unknown ones are in it too: the API refuses them and names the nearest that it knows. */
export function toQuery(args: Record<string, unknown>, { properties, joined }: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  const text = (name: string, value: unknown): string => {
    if (value !== null && typeof value !== 'object') return String(value);
    throw new ToolError(`${name} must be a text, a number or a list of them`);
  };
  for (const [name, value] of Object.entries(args)) {
    if (name === 'format') throw new ToolError('format is not a parameter here: every answer is JSON');
    if (value === undefined || value === null) continue;
    if (!Array.isArray(value)) query.set(name, text(name, value));
    else if (properties[name]?.type === 'array' && !joined.has(name)) {
      for (const one of value) query.append(name, text(name, one));
    } else query.set(name, value.map((one) => text(name, one)).join(','));
  }
  return query;
}
