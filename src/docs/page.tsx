import type { openApiDocument } from './document.ts';
import { describeField, type Field, fieldsOf, type Schema, type Schemas, variantsOf } from './fields.ts';
import { Inline, Prose } from './prose.tsx';

/** The page loads everything from its own origin and has no scripts. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

type Content = Readonly<
  Record<string, { schema?: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>
>;
type Parameter = { in: string; name: string; schema: Schema; required?: boolean; description?: string };
type OpenApiOperation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
};
type ListedOperation = OpenApiOperation & { method: string; path: string };

/** The parts of the OpenAPI document that the page shows. */
type Reference = {
  info: { title: string; description: string };
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Schemas;
    securitySchemes: Record<string, { type: string; name?: string; description: string }>;
  };
};

const STYLES = ['tokens', 'parts', 'tables', 'docs'];

/** `of` tells the tables of the page apart for screen readers. */
const FieldTable = ({ caption, of, fields }: { caption: string; of: string; fields: readonly Field[] }) =>
  fields.length === 0 ? null : (
    <section class="scroll" aria-label={`${caption}: ${of}`} tabindex={0}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Description</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name, type, isRequired, text }) => (
            <tr>
              <td>
                <code>{name}</code>
                {isRequired && <span class="badge">required</span>}
              </td>
              <td class="type">{type}</td>
              <td class="wrap">
                <Inline text={text} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** The first example of a body. */
function exampleOf(content: Content): string | null {
  const [type = '', { example, examples = {} } = {}] = Object.entries(content)[0] ?? [];
  const value = example ?? Object.values(examples)[0]?.value;
  return type === '' || value === undefined ? null : textOf(value);
}

const Body = ({ content, of, schemas }: { content: Content; of: string; schemas: Schemas }) => (
  <>
    {Object.entries(content).map(([type, { schema = {} }]) => {
      const variants = variantsOf(schema, schemas);
      return (
        <>
          <h3>
            Body <small>{type}</small>
          </h3>
          {variants.map(({ name, schema: variant }) =>
            name === '' ? (
              <FieldTable
                caption="Fields of the body"
                of={`${of}, ${type}`}
                fields={fieldsOf(variant, schemas)}
              />
            ) : (
              <details class="fold">
                <summary>
                  <code>{name}</code>
                </summary>
                <FieldTable
                  caption={`Fields of the body, ${name}`}
                  of={`${of}, ${type}`}
                  fields={fieldsOf(variant, schemas)}
                />
              </details>
            ),
          )}
        </>
      );
    })}
  </>
);

const Answers = ({
  operation: { responses, summary },
  schemas,
}: {
  operation: ListedOperation;
  schemas: Schemas;
}) => (
  <>
    <h3>Answers</h3>
    <ul class="answers">
      {Object.entries(responses).map(([status, { description, content = {} }]) => {
        const [schema] = Object.values(content).flatMap((one) => one.schema ?? []);
        const fields = schema && Number(status) < 300 ? fieldsOf(schema, schemas) : [];
        return (
          <li>
            <span class={Number(status) < 300 ? 'badge good' : 'badge'}>{status}</span>
            <div>
              <Inline text={description} />
              {fields.length > 0 && (
                <details class="fold">
                  <summary>{`Show its ${fields.length} fields`}</summary>
                  <FieldTable caption={`Fields of the answer ${status}`} of={summary} fields={fields} />
                </details>
              )}
            </div>
          </li>
        );
      })}
    </ul>
  </>
);

const OperationSection = ({ operation, reference }: { operation: ListedOperation; reference: Reference }) => {
  const {
    operationId,
    method,
    path,
    summary,
    description,
    security,
    parameters = [],
    requestBody,
  } = operation;
  const { schemas, securitySchemes } = reference.components;
  const headers = security
    .flatMap((one) => Object.keys(one))
    .map((name) => securitySchemes[name]?.name ?? 'Authorization: Bearer');
  const example = requestBody ? exampleOf(requestBody.content) : null;
  return (
    <section class="operation" id={operationId}>
      <h2>
        <a href={`#${operationId}`}>{summary}</a>
      </h2>
      <p class="endpoint">
        <span class={`method ${method}`}>{method.toUpperCase()}</span>
        <code>{path}</code>
      </p>
      {description && <Prose text={description} />}
      <p class="hint">
        {headers.length === 0 ? 'No credential.' : 'Credential: '}
        {headers.map((name, index) => (
          <>
            {index > 0 && ' or '}
            <code>{name}</code>
          </>
        ))}
      </p>
      {parameters.length > 0 && (
        <>
          <h3>Parameters</h3>
          <FieldTable
            caption={`Parameters of ${summary}`}
            of={path}
            fields={parameters.map(({ name, schema, required = false }) =>
              describeField(name, schema, required, schemas),
            )}
          />
        </>
      )}
      {requestBody && <Body content={requestBody.content} of={summary} schemas={schemas} />}
      {example !== null && (
        <>
          <h3>Example</h3>
          <pre tabindex={0}>{example}</pre>
        </>
      )}
      <Answers operation={operation} schemas={schemas} />
    </section>
  );
};

/** The reference of the API, rendered from its OpenAPI document. Each operation's id is its anchor: errors link to `/docs#post-webhook`. */
export function DocsPage({ document }: { document: ReturnType<typeof openApiDocument> }) {
  // The document is data for any tool; these are the parts of it that this module writes itself.
  const reference = document as unknown as Reference;
  const operations = Object.entries(reference.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): ListedOperation => ({ ...operation, method, path })),
  );
  const groups = [...Map.groupBy(operations, ({ tags: [tag = ''] }) => tag)];
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{reference.info.title}</title>
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        {STYLES.map((name) => (
          <link rel="stylesheet" href={`/${name}.css`} />
        ))}
      </head>
      <body class="docs">
        <nav aria-label="Operations">
          <p>
            <a href="/">Dashboard</a>
            <a href="/openapi.json">OpenAPI document</a>
          </p>
          {groups.map(([tag, own]) => (
            <>
              <h2>{tag}</h2>
              <ul>
                {own.map(({ operationId, summary }) => (
                  <li>
                    <a href={`#${operationId}`}>{summary}</a>
                  </li>
                ))}
              </ul>
            </>
          ))}
        </nav>
        <main>
          <h1>{reference.info.title}</h1>
          <Prose text={reference.info.description} />
          <ul class="credentials">
            {Object.values(reference.components.securitySchemes).map(({ name, description }) => (
              <li>
                <code>{name ?? 'Authorization: Bearer'}</code> <Inline text={description} />
              </li>
            ))}
          </ul>
          {groups.map(([, own]) =>
            own.map((operation) => <OperationSection operation={operation} reference={reference} />),
          )}
        </main>
      </body>
    </html>
  );
}
