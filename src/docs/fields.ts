/** The parts of a JSON schema that the reference shows. */
export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  format?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
};
export type Schemas = Readonly<Record<string, Schema>>;

/** A field of a body or an answer. `name` is its path, such as `creative.name` or `data[].day`. */
export type Field = { name: string; type: string; isRequired: boolean; text: string };

/** Objects deeper than this are named, not listed. */
const MAX_DEPTH = 4;
/** More values than this are counted, not listed. */
const MAX_VALUES = 12;

const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

/** The alternatives of a schema that are not null, or itself. */
function alternatives(schema: Schema, schemas: Schemas): Schema[] {
  const found = resolve(schema, schemas);
  const several = found.oneOf ?? found.anyOf;
  if (!several) return [found];
  return several.flatMap((one) => alternatives(one, schemas)).filter(({ type }) => type !== 'null');
}

const isNullable = (schema: Schema): boolean =>
  schema.type === 'null' ||
  [schema.type ?? []].flat().includes('null') ||
  (schema.anyOf ?? schema.oneOf ?? []).some(isNullable);

/** A schema's type in words. */
function typeOf(schema: Schema, schemas: Schemas): string {
  const names = alternatives(schema, schemas).map((one) => {
    if (one.const !== undefined) return JSON.stringify(one.const);
    if (one.enum) return 'string';
    const [type = 'any'] = [one.type ?? []].flat().filter((name) => name !== 'null');
    return type === 'array' ? `array of ${typeOf(one.items ?? {}, schemas)}s` : type;
  });
  const text = [...new Set(names)].join(' or ');
  return isNullable(resolve(schema, schemas)) ? `${text} or null` : text;
}

/** What a field may be, besides its type. */
function limitsOf(schema: Schema, schemas: Schemas): string {
  const [one = {}] = alternatives(schema, schemas);
  const values = one.enum ?? one.items?.enum ?? [];
  const listed = values.slice(0, MAX_VALUES).map((value) => `\`${value}\``);
  const more = values.length > listed.length ? ` and ${values.length - listed.length} more` : '';
  return [
    values.length > 0 ? `One of ${listed.join(', ')}${more}.` : '',
    one.maxLength === undefined ? '' : `At most ${one.maxLength} characters.`,
    one.maxItems === undefined ? '' : `At most ${one.maxItems} values.`,
    one.minimum === undefined ? '' : `At least ${one.minimum}.`,
    one.maximum === undefined || one.maximum >= Number.MAX_SAFE_INTEGER ? '' : `At most ${one.maximum}.`,
    schema.default === undefined ? '' : `Default: \`${schema.default}\`.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** A field's own line, for parameters. */
export const describeField = (
  name: string,
  schema: Schema,
  isRequired: boolean,
  schemas: Schemas,
): Field => ({
  name,
  type: typeOf(schema, schemas),
  isRequired,
  text: [schema.description ?? resolve(schema, schemas).description ?? '', limitsOf(schema, schemas)]
    .filter((text) => text !== '')
    .join(' '),
});

/** The fields of an object, with those of the objects within it. */
export function fieldsOf(schema: Schema, schemas: Schemas, prefix = '', depth = 0): Field[] {
  const found = resolve(schema, schemas);
  const objects = [
    ...alternatives(found, schemas),
    ...(found.allOf ?? []).map((one) => resolve(one, schemas)),
  ];
  const fields = objects.flatMap((object) => {
    const required = new Set(object.required);
    return Object.entries(object.properties ?? {}).flatMap(([name, property]) => {
      const path = prefix + name;
      const list = alternatives(property, schemas).find(({ items }) => items)?.items;
      const within =
        depth >= MAX_DEPTH
          ? []
          : fieldsOf(list ?? property, schemas, `${path}${list ? '[]' : ''}.`, depth + 1);
      return [describeField(path, property, required.has(name), schemas), ...within];
    });
  });
  return [...new Map(fields.map((field) => [field.name, field])).values()];
}

/** The kinds of an object that is one of several, by the value that tells them apart; one without a name for any other schema. */
export function variantsOf(schema: Schema, schemas: Schemas): { name: string; schema: Schema }[] {
  const objects = alternatives(schema, schemas).filter(({ properties }) => properties);
  if (objects.length < 2) return [{ name: '', schema }];
  return objects.map((object) => {
    const told = Object.entries(object.properties ?? {}).find(([, { const: value }]) => value !== undefined);
    return { name: told ? `${told[0]}: ${told[1].const}` : 'Otherwise', schema: object };
  });
}
