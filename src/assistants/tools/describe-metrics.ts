import * as z from 'zod';
import { COHORT_METRICS, DIMENSIONS, METRICS, type MetricDefinition } from '#catalogue';
import { REPORT_ENDPOINTS } from './report.ts';
import { defineTool } from './tool.ts';

const words = { name: z.string(), definition: z.string(), source: z.string() };
const described = z.object({ name: z.string(), description: z.string() });

type DescribedColumn = z.infer<typeof described>;

/** The columns of a report's rows, those of a table within a row too. */
function columnsOf(row: z.ZodObject, prefix = ''): DescribedColumn[] {
  return Object.entries<z.ZodType>(row.shape).flatMap(([name, field]) =>
    field instanceof z.ZodRecord && field.valueType instanceof z.ZodObject
      ? columnsOf(field.valueType, `${prefix}${name}.N.`)
      : [{ name: `${prefix}${name}`, description: field.description ?? '' }],
  );
}

const rowOf = (answer: z.ZodType | undefined) =>
  (answer as z.ZodObject<{ data: z.ZodArray<z.ZodObject> }>).shape.data.element;

const metrics = Object.entries<MetricDefinition>(METRICS).map(([name, metric]) => ({
  name,
  label: metric.label,
  definition: metric.definition,
  source: metric.source,
  unit: metric.unit,
  null_when: metric.missing ?? null,
}));
const figures = Object.entries(COHORT_METRICS).map(([name, { definition, source }]) => ({
  name,
  definition,
  source,
}));

export const describeMetricsTool = defineTool({
  name: 'describe_metrics',
  title: 'Describe metrics and reports',
  description:
    'Without an argument: the definition of every metric, of the figures of cohorts, and the groupings. With `report`: what that report counts, and its columns.',
  input: z.object({
    report: z
      .enum(REPORT_ENDPOINTS.map(({ name }) => name))
      .optional()
      .meta({ description: 'A report of the tool report, or compare.' }),
  }),
  output: z.object({
    metrics: z
      .array(
        z.object({
          ...words,
          label: z.string(),
          unit: z.enum(['count', 'money', 'percent']),
          null_when: z.string().nullable(),
        }),
      )
      .optional()
      .meta({ description: 'The metrics of the performance report.' }),
    cohort_figures: z.array(z.object(words)).optional(),
    groupings: z
      .array(z.object({ name: z.string(), label: z.string() }))
      .optional()
      .meta({ description: 'The groupings of the performance report.' }),
    reports: z.array(z.object({ name: z.string(), summary: z.string() })),
    report: z.object({ name: z.string(), description: z.string(), columns: z.array(described) }).optional(),
  }),
  async run(_, { report }) {
    const reports = REPORT_ENDPOINTS.map(({ name, endpoint: { summary } }) => ({ name, summary }));
    const asked = REPORT_ENDPOINTS.find(({ name }) => name === report);
    if (!asked) {
      const groupings = Object.entries(DIMENSIONS).map(([name, { label }]) => ({ name, label }));
      return { metrics, cohort_figures: figures, groupings, reports };
    }
    const { name, endpoint } = asked;
    return {
      reports,
      report: {
        name,
        description: endpoint.description ?? endpoint.summary,
        columns: columnsOf(rowOf(endpoint.answer.schema)),
      },
    };
  },
});
