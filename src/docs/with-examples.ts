import * as z from 'zod';

/** The fields of a query, as the schema that validates has them, each with its example. */
export function withExamples(query: z.ZodObject, examples: Record<string, unknown>): z.ZodObject {
  return z.object(
    Object.fromEntries(
      Object.entries(query.shape).map(([name, field]) => [
        name,
        examples[name] === undefined ? field : (field as z.ZodType).meta({ example: examples[name] }),
      ]),
    ),
  );
}
