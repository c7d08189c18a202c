import {
  ALL_METRICS,
  basisText,
  COHORT_METRICS,
  DIMENSIONS,
  type DimensionDefinition,
  type DimensionName,
  METRICS,
  type Metric,
  type MetricDefinition,
  metricsIn,
  rollupOf,
} from '#catalogue';

const UNITS = { count: 'count', money: 'money, in units of the reporting currency', percent: 'ratio' };

const sourceText = (source: string) => (source.startsWith('https://') ? `[definition](${source})` : source);

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** The dimensions by which a metric is not available. */
function lackedBy(metric: Metric): DimensionName[] {
  return (Object.keys(DIMENSIONS) as DimensionName[]).filter((name) => {
    const { lacks = [] }: DimensionDefinition = DIMENSIONS[name];
    return (
      lacks.includes(metric) || !metricsIn(rollupOf([name]) ?? 'rollup_daily', ALL_METRICS).includes(metric)
    );
  });
}

function nullText(name: Metric): string {
  const { formula, missing }: MetricDefinition = METRICS[name];
  const lacking = lackedBy(name);
  const reasons = [
    ...(lacking.length > 0 ? [`by ${lacking.map((dimension) => `\`${dimension}\``).join(', ')}`] : []),
    ...(missing ? [missing] : []),
    ...(formula?.includes(' / ') ? ['if the divisor is 0'] : []),
  ];
  return reasons.join('; ') || 'never';
}

/** The text of docs/metrics.md, generated from the catalogue. */
export function metricsPage(): string {
  const metrics = ALL_METRICS.map((name) => {
    const { label, unit, definition, formula = '', source }: MetricDefinition = METRICS[name];
    const basis = basisText(name, 'paid');
    const unitText = basis === '' ? UNITS[unit] : `${UNITS[unit]}; ${basis}`;
    return [`\`${name}\``, label, unitText, definition, formula, nullText(name), sourceText(source)];
  });
  const cohorts = Object.entries(COHORT_METRICS).map(([name, { definition, source }]) => [
    `\`${name}\``,
    definition,
    sourceText(source),
  ]);
  const kinds = {
    time: 'a span of time',
    named: 'names',
    segment: 'the device or event',
    column: 'the event',
  };
  const dimensions = Object.entries(DIMENSIONS).map(([name, { label, kind }]) => [
    `\`${name}\``,
    label,
    kinds[kind],
  ]);
  return `# Metrics

Generated from \`src/catalogue\` by \`npm run docs:metrics\`. Counts without events are 0. A metric is null if a report
cannot provide it. A filter by country, OS or app version makes metrics null that cannot be grouped by that dimension.
Erasing a device changes no figure: what was counted of it stays, without its identity (see [Erase a person](privacy.md#erase-a-person)). How revenue is predicted is
explained in [Prediction](prediction.md).
What is compared with spend is \`paid\`, of attributed devices, or \`blended\`, of all of them, with \`attribution=all\`. Figures of a \`cohort\` are of the devices acquired in the period, whenever
they earned; those of the \`period\` of what happened in it.
An amount is converted with the rate of its day, or else the latest earlier one: see
[Exchange rates](operations.md#exchange-rates). Amounts without an exchange rate are left out; each row lists those that it lacks as \`unconverted\`.

## Performance report

${table(['metric', 'label', 'unit', 'definition', 'formula', 'null', 'source'], metrics)}

## Retention, LTV and funnel reports

${table(['metric', 'definition', 'source'], cohorts)}

## Dimensions

${table(['dimension', 'label', 'read from'], dimensions)}
`;
}
