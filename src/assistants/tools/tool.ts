import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import * as z from 'zod';

/** Requests a path of the service with the caller's credential. */
export type Ask = (path: string) => Promise<Response>;

/** A failure that the assistant is told, so that it can ask in another way. */
export class ToolError extends Error {}

type ToolFields = Record<string, unknown>;
export type JsonSchema = Record<string, unknown>;
export type ToolSchema = StandardSchemaWithJSON<ToolFields, ToolFields>;

export type Tool = {
  name: string;
  title: string;
  description: string;
  inputSchema: ToolSchema;
  outputSchema: ToolSchema;
  /** Throws `ToolError` for what the assistant can change or should know. */
  run(ask: Ask, input: ToolFields): Promise<ToolFields>;
};

/** A schema in JSON Schema. What only OpenAPI knows is translated: fields that parse text, and examples. */
export const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema =>
  z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // A custom schema parses text.
      if (zodSchema._zod.def.type === 'custom' && io === 'input') jsonSchema.type = 'string';
      const { override = {}, example } = jsonSchema as { override?: object; example?: unknown };
      for (const name of ['override', 'param', 'example']) delete jsonSchema[name];
      Object.assign(jsonSchema, override, example === undefined ? {} : { examples: [example] });
    },
  });

/** A schema of a tool that validates with zod and shows `json`, or else what zod makes of it. */
export function toolSchema(
  schema: z.ZodObject,
  io: 'input' | 'output',
  json = toJsonSchema(schema, io),
): ToolSchema {
  const own = schema['~standard'] as ToolSchema['~standard'];
  return { '~standard': { ...own, jsonSchema: { input: () => json, output: () => json } } };
}

/** Defines a tool, typed by its schemas. Fields that `output` does not have are left out of its answers. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>({
  input,
  output,
  run,
  ...words
}: {
  name: string;
  title: string;
  description: string;
  input: Input;
  output: Output;
  run(ask: Ask, input: z.output<Input>): Promise<z.input<Output>>;
}): Tool {
  return {
    ...words,
    inputSchema: toolSchema(input, 'input'),
    outputSchema: toolSchema(output, 'output'),
    run: async (ask, sent) => output.parse(await run(ask, input.parse(sent))),
  };
}

/** The message of a refusal, in the words of the team API. */
const Refusal = z.object({ message: z.string() });

/** Asks the team API. Throws `ToolError` with its message for any refusal. */
export async function askApi(ask: Ask, path: string, query: URLSearchParams): Promise<unknown> {
  const answer = await ask(query.size === 0 ? path : `${path}?${query}`);
  const body: unknown = await answer.json();
  if (answer.ok) return body;
  const { message } = Refusal.parse(body);
  const wait = answer.headers.get('Retry-After');
  throw new ToolError(wait === null ? message : `${message}. Try again in ${wait} seconds.`);
}

export const cut = z.string().nullable().meta({
  description: 'What was left out of the answer, and how to ask for it. Null if nothing was.',
});
