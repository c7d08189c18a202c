import * as z from 'zod';
import { connectorEndpoints } from '#connectors/routes';
import type { Endpoint } from '#http';
import { reportEndpoints } from '#reports/routes';
import { skanEndpoints } from '#skan/routes';
import { boundRows } from './bound-rows.ts';
import { type Parameters, parametersOf, toQuery } from './parameters.ts';
import { type Ask, askApi, cut, type JsonSchema, type Tool, ToolError, toolSchema } from './tool.ts';

const PREFIX = '/v1/reports/';

/** A report of the team API, from its documentation, so that a new report or parameter is one of the tools' too. */
export type ReportEndpoint = { name: string; endpoint: Endpoint; parameters: Parameters };

const MAX_ROWS = 200;
const DEFAULT_ROWS = 50;
const limit = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_ROWS,
  default: DEFAULT_ROWS,
  description: 'The most rows. All others are summed up in one more, with is_other.',
};

export const REPORT_ENDPOINTS: readonly ReportEndpoint[] = [
  ...reportEndpoints,
  ...skanEndpoints,
  ...connectorEndpoints,
]
  .filter(({ path }) => path.startsWith(PREFIX))
  .map((endpoint) => {
    const parameters = parametersOf(endpoint);
    const { properties } = parameters;
    return {
      name: endpoint.path.slice(PREFIX.length),
      endpoint,
      parameters: { ...parameters, properties: properties.limit ? { ...properties, limit } : properties },
    };
  });

const COMPARE = 'compare';
/** Those of the tool `report`. */
const REPORTED = REPORT_ENDPOINTS.filter(({ name }) => name !== COMPARE);

/** The number of rows to ask for. The team API has more, and its own message for what is no number. */
function limitOf(given: unknown): unknown {
  if (Number(given) > MAX_ROWS) throw new ToolError(`limit must be a whole number from 1 to ${MAX_ROWS}`);
  return given ?? DEFAULT_ROWS;
}

/** How to ask for less of a report at a time. */
function waysOf({ properties }: Parameters): string {
  const ways = [
    properties.limit && `with a limit of up to ${MAX_ROWS}`,
    properties.metrics && 'for fewer metrics',
    properties.days && 'for fewer days since the install',
    'for a shorter period',
    properties.country && 'with a filter such as country',
    properties.q && 'with q, a text in the names',
  ].filter((way) => typeof way === 'string');
  return `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`;
}

const Rows = z.looseObject({
  data: z.array(z.looseObject({})),
  total_rows: z.int().optional(),
  before: z.looseObject({ data: z.array(z.looseObject({})) }).optional(),
});

async function readReport(ask: Ask, { endpoint, parameters }: ReportEndpoint, args: Record<string, unknown>) {
  const { properties } = parameters;
  const asked = properties.limit ? { ...args, limit: limitOf(args.limit) } : args;
  const answer = Rows.parse(await askApi(ask, endpoint.path, toQuery(asked, parameters)));
  return boundRows(answer, waysOf(parameters));
}

/** The parameters of all reports as those of one tool. Each says which reports have it, and how it differs between them. */
function mergedParameters(): JsonSchema {
  const names = [...new Set(REPORTED.flatMap(({ parameters }) => Object.keys(parameters.properties)))];
  const properties = names.map((name): [string, JsonSchema] => {
    const owners = REPORTED.filter(({ parameters }) => parameters.properties[name]);
    // Those that differ in nothing but their examples are one.
    const variants = Map.groupBy(owners, ({ parameters }) =>
      JSON.stringify({ ...parameters.properties[name], examples: undefined }),
    );
    const described = [...variants.values()].map((reports) => {
      const schema = reports[0]?.parameters.properties[name] ?? {};
      if (reports.length === REPORTED.length) return schema;
      const of = `For ${reports.map((one) => one.name).join(', ')}.`;
      return { ...schema, description: [of, schema.description].filter(Boolean).join(' ') };
    });
    const [only = {}, ...others] = described;
    return [name, others.length === 0 ? only : { anyOf: described }];
  });
  const required = names.filter((name) =>
    REPORTED.every(({ parameters }) => parameters.required.includes(name)),
  );
  const report = {
    type: 'string',
    enum: REPORTED.map(({ name }) => name),
    description: REPORTED.map(({ name, endpoint }) => `${name}: ${endpoint.summary}.`).join(' '),
  };
  return {
    type: 'object',
    properties: { report, ...Object.fromEntries(properties) },
    required: ['report', ...required],
    additionalProperties: false,
  };
}

const amounts = z.array(z.looseObject({ currency: z.string() })).optional();

const ReportAnswer = z.looseObject({
  report: z.string(),
  data: z.array(z.looseObject({})).meta({
    description: 'The rows. describe_metrics has the columns of each report.',
  }),
  totals: z.unknown().optional(),
  total_rows: z.int().optional(),
  currency: z.string().optional(),
  timezone: z.string().meta({ description: 'The time zone of the days.' }),
  counted_through: z.iso.datetime().nullable().meta({
    description: 'Every event, or postback of skan, accepted before this time is included. Null if unknown.',
  }),
  uncounted: z.int().nullish().meta({ description: 'How many accepted events may be missing.' }),
  unconverted: amounts.meta({ description: 'Amounts without an exchange rate, which the figures lack.' }),
  cut,
});

const ReportInput = z.looseObject({ report: z.enum(REPORTED.map(({ name }) => name)) });

export const reportTool: Tool = {
  name: 'report',
  title: 'Read a report',
  description: `Reads a report of one application, by inclusive days of its time zone. describe_metrics explains each report and its columns. Amounts are in \`currency\`. Null is "cannot be known", not 0.`,
  inputSchema: toolSchema(ReportInput, 'input', mergedParameters()),
  outputSchema: toolSchema(ReportAnswer, 'output'),
  async run(ask, input) {
    const { report, ...args } = ReportInput.parse(input);
    const asked = REPORTED.find(({ name }) => name === report);
    if (!asked) throw new ToolError('report is unknown');
    return { report, ...(await readReport(ask, asked, args)) };
  },
};

function toolOf(name: string): Tool {
  const found = REPORT_ENDPOINTS.find((one) => one.name === name);
  if (!found) throw new Error(`no report ${name}`);
  const { endpoint, parameters } = found;
  const { properties, required } = parameters;
  const answer = z.looseObject({ ...(endpoint.answer.schema as z.ZodObject).shape, cut });
  return {
    name,
    title: endpoint.summary,
    description: endpoint.description ?? endpoint.summary,
    inputSchema: toolSchema(z.looseObject({}), 'input', {
      type: 'object',
      properties,
      required: [...required],
      additionalProperties: false,
    }),
    outputSchema: toolSchema(answer, 'output'),
    run: (ask, args) => readReport(ask, found, args),
  };
}
export const compareTool = toolOf(COMPARE);
