import * as z from 'zod';

type Shape = Readonly<Record<string, unknown>>;

/**
 * The columns of a report's CSV, as its documented rows have them: without fields that only some rows have, except those that were asked for
 * and `unconverted`. A table of days within a row is rows of its own.
 */
export function columnsInTable(row: Shape, asked: readonly string[]): string[] {
  // They are in the order in which they were asked for, at the places that the documentation has for them.
  const rest = [...asked];
  return Object.entries(row).flatMap(([name, schema]) => {
    if (asked.includes(name)) return rest.splice(0, 1);
    if (schema instanceof z.ZodRecord && schema.valueType instanceof z.ZodObject) {
      return ['day', ...columnsInTable(schema.valueType.shape, [])];
    }
    return schema instanceof z.ZodOptional && name !== 'unconverted' ? [] : [name];
  });
}
