import { ADJUST, AMPLITUDE, from, OURS, type Words } from './metric.ts';
import type { CohortFigure, Sums } from './sums.ts';

// The figures of the devices acquired in a period, by day number since their acquisition: as columns of the performance report, and in the reports
// of cohorts.

/** The day numbers of the performance report's columns. */
const COHORT_DAYS = [0, 1, 3, 7, 14, 30] as const;
type CohortDay = (typeof COHORT_DAYS)[number];

const ofEachDay = <Name extends string, Definition>(name: Name, define: (day: CohortDay) => Definition) =>
  Object.fromEntries(COHORT_DAYS.map((day) => [`${name}_d${day}`, define(day)])) as Record<
    `${Name}_d${CohortDay}`,
    Definition
  >;

/** What all metrics of a figure by a day number have in common. */
const metricOf = (figure: CohortFigure, day: number) => ({
  kind: 'ratio' as const,
  ...{ figure, day },
  missing: `until day ${day} is over for any of the devices`,
  value: ({ cohort }: Pick<Sums, 'cohort'>) => cohort?.figures.get(day)?.[figure] ?? null,
});

/** The metrics of the performance report that are computed only if they are asked for. */
export const OF_COHORT_DAYS = {
  ...ofEachDay('roas', (day) =>
    from(['spend', 'cohort'], {
      ...metricOf('roas', day),
      label: `ROAS day ${day}`,
      unit: 'percent',
      formula: `revenue until day ${day} of the attributed devices acquired in the period / spend`,
      hint: `Revenue until day ${day} after the install / spend`,
      definition: `Return on ad spend by day ${day}: \`roas\` of the LTV report, of the attributed devices acquired in the period.`,
      source: `${ADJUST}roas-definition/`,
    }),
  ),
  ...ofEachDay('ltv', (day) =>
    from(['cohort'], {
      ...metricOf('ltv', day),
      label: `LTV day ${day}`,
      unit: 'money',
      formula: `revenue until day ${day} of the devices acquired in the period / these devices`,
      hint: `Revenue per device until day ${day} after the install`,
      definition: `Lifetime value by day ${day}: \`ltv\` of the LTV report, of the devices acquired in the period.`,
      source: `${ADJUST}lifetime-value-ltv/`,
    }),
  ),
  ...ofEachDay('roas_net', (day) =>
    from(['spend', 'cohort'], {
      ...metricOf('roas_net', day),
      label: `Net ROAS day ${day}`,
      unit: 'percent',
      formula: `net revenue until day ${day} of the attributed devices acquired in the period / spend`,
      hint: `Like ROAS day ${day}, without refunds and the fee of stores`,
      definition: `\`roas_d${day}\` without refunds and the share that stores keep: \`roas\` of the LTV report with \`net=true\`, of the attributed devices.`,
    }),
  ),
  ...ofEachDay('ltv_net', (day) =>
    from(['cohort'], {
      ...metricOf('ltv_net', day),
      label: `Net LTV day ${day}`,
      unit: 'money',
      formula: `net revenue until day ${day} of the devices acquired in the period / these devices`,
      hint: `Like LTV day ${day}, without refunds and the fee of stores`,
      definition: `\`ltv_d${day}\` without refunds and the share that stores keep: \`ltv\` of the LTV report with \`net=true\`.`,
    }),
  ),
  ...ofEachDay('profit', (day) =>
    from(['spend', 'cohort'], {
      ...metricOf('profit', day),
      label: `Profit day ${day}`,
      unit: 'money',
      formula: `revenue until day ${day} of the attributed devices acquired in the period - spend`,
      hint: `Revenue until day ${day} after the install, minus the spend on these devices`,
      definition: `Profit by day ${day}: revenue until day ${day} of the attributed devices acquired in the period whose day ${day} is over - the spend on the days on which they were acquired. Negative for a loss. \`profit\` is of the period instead: all revenue of its days, whenever the devices came.`,
    }),
  ),
  ...ofEachDay('profit_net', (day) =>
    from(['spend', 'cohort'], {
      ...metricOf('profit_net', day),
      label: `Net profit day ${day}`,
      unit: 'money',
      formula: `net revenue until day ${day} of the attributed devices acquired in the period - spend`,
      hint: `Like profit day ${day}, without refunds and the fee of stores`,
      definition: `\`profit_d${day}\` without refunds and the share that stores keep.`,
    }),
  ),
  ...ofEachDay('retention', (day) =>
    from(['cohort'], {
      ...metricOf('retention', day),
      label: `Retention day ${day}`,
      unit: 'percent',
      formula: `devices active on day ${day} / devices acquired in the period`,
      hint: `Share of devices active on day ${day} after the install`,
      definition: `Retention on day ${day}: \`classic\` of the retention report, of the devices acquired in the period.`,
      source: AMPLITUDE,
    }),
  ),
};

/** The metrics of the retention, lifetime-value and funnel reports. */
export const COHORT_METRICS = {
  size: { definition: 'Devices acquired in the cohort.', source: `${ADJUST}cohort/` },
  eligible: {
    definition: "Devices whose day N is over in the application's time zone.",
    source: AMPLITUDE,
  },
  classic: { definition: 'Devices active exactly on day N / eligible devices.', source: AMPLITUDE },
  rolling: { definition: 'Devices active on day N or later / eligible devices.', source: AMPLITUDE },
  revenue: {
    definition: 'Revenue of the eligible devices from day 0 to day N.',
    source: OURS,
  },
  ltv: {
    definition:
      'Lifetime value by day N: for each day d from 0 to N, the revenue on day d of the devices whose day d is over / these devices, added up. If day N is over for the whole cohort, this is its revenue / its devices. A young cohort uses what is known of each day, so the value never falls from one day to the next.',
    source: `${ADJUST}lifetime-value-ltv/`,
  },
  roas: {
    definition:
      'Return on ad spend by day N: for each day d from 0 to N, the revenue on day d of the attributed devices whose day d is over, or with `attribution=all` of all of them / the spend on these devices, added up. The spend on devices is what was spent on the days on which they were acquired, including days that brought none. Null if nothing was spent on devices whose day N is over.',
    source: `${ADJUST}roas-definition/`,
  },
  payback_day: {
    definition:
      'The first day N, up to the last requested one, by which ROAS is at least 1 and day N is over for at least half of the devices. Null if there is none.',
    source: OURS,
  },
  complete: {
    definition:
      'Whether every device of the cohort is eligible: day N is over for all of them. Only such days can be compared with each other.',
    source: OURS,
  },
  from_first: {
    definition: 'Devices that reach the step / devices that reach the first step.',
    source: OURS,
  },
  from_previous: {
    definition: 'Devices that reach the step / devices that reach the previous step.',
    source: OURS,
  },
  median_seconds: {
    definition:
      'The median time in seconds from the previous step, for the devices that reach this step. Null for the first step. Exact unless there are more than a million different durations; long ones are then rounded to a thousandth.',
    source: OURS,
  },
} as const satisfies Record<string, Words>;
