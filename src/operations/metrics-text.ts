/** A gauge of OpenMetrics: one value, or one per application. Values that are not known are left out. */
export type Gauge = {
  name: string;
  help: string;
  /** Suffix of the name; absent for a count. */
  unit?: 'seconds' | 'bytes';
  samples: readonly { application?: string; value: number | null }[];
};

export const METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

const PREFIX = 'attribution';

/**
 * Writes gauges in the OpenMetrics text format. Pure.
 * Source: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
 */
export function toOpenMetrics(gauges: readonly Gauge[]): string {
  const lines = gauges.flatMap(({ name, help, unit, samples }) => {
    const full = [PREFIX, name, ...(unit ? [unit] : [])].join('_');
    return [
      `# TYPE ${full} gauge`,
      ...(unit ? [`# UNIT ${full} ${unit}`] : []),
      `# HELP ${full} ${help}`,
      ...samples.flatMap(({ application, value }) =>
        value === null ? [] : [`${full}${application ? `{application="${application}"}` : ''} ${value}`],
      ),
    ];
  });
  return `${[...lines, '# EOF'].join('\n')}\n`;
}
