import type * as z from 'zod';

/** `ad_revenue_high` as `adRevenueHigh`. */
export type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
export const camelCase = (name: string) =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Fields under their names in code. */
type CamelCased<Fields> = { [Name in keyof Fields as CamelCase<Name>]: Fields[Name] };

/** What the API was sent, under the names in code. */
export const fromApi = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [camelCase(name), value]),
  ) as CamelCased<Fields>;

/** An answer of the API: the fields of its schema, in their order, of what has them under the names in code. */
export function toApi<Shape extends z.ZodRawShape>(
  { shape }: z.ZodObject<Shape>,
  own: CamelCased<z.input<z.ZodObject<Shape>>>,
): z.input<z.ZodObject<Shape>> {
  const values: Readonly<Record<string, unknown>> = own;
  const fields = Object.keys(shape).map((name) => [name, values[camelCase(name)]]);
  return Object.fromEntries(fields);
}
