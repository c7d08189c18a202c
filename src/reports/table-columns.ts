import * as z from 'zod';
import { REPORTS, type ReportName } from './reports.ts';

type Shape = Readonly<Record<string, unknown>>;

/**
 * The columns of a report's CSV, as its documented rows have them: without fields that only some rows have, except those that were asked for
 * and `unconverted`. A table of days within a row is rows of its own.
 */
export const tableColumns = (name: ReportName, asked: readonly string[]): string[] =>
  columnsOf(REPORTS[name].answer.shape.data.element.shape, asked);

function columnsOf(row: Shape, asked: readonly string[]): string[] {
  // They are in the order in which they were asked for, at the places that the documentation has for them.
  const rest = [...asked];
  return Object.entries(row).flatMap(([name, schema]) => {
    if (asked.includes(name)) return rest.splice(0, 1);
    if (schema instanceof z.ZodRecord && schema.valueType instanceof z.ZodObject) {
      return ['day', ...columnsOf(schema.valueType.shape, [])];
    }
    return schema instanceof z.ZodOptional && name !== 'unconverted' ? [] : [name];
  });
}
