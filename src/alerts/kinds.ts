import { money } from '#lib/format';

/** The unit of a threshold: percent, hours, problems, or units of the application's currency. */
type Unit = 'percent' | 'hours' | 'problems' | 'money';

type Kind = {
  label: string;
  unit: Unit;
  /** Explains the threshold, next to its field. */
  hint: string;
  /** The default in the form. */
  suggested: number;
  max: number;
  /** Minutes between two checks: as often as the figure can change. */
  every: number;
};

const OF_THE_WEEKDAY = 'Yesterday against the mean of the same weekday in the four weeks before';
const SEVEN_DAYS = 'Over the last seven full days';

/** The figures that alerts can watch. */
export const ALERT_KINDS = {
  revenue_change: {
    label: 'Revenue differs by more than',
    unit: 'percent',
    hint: OF_THE_WEEKDAY,
    suggested: 30,
    max: 1_000,
    every: 60,
  },
  installs_change: {
    label: 'Installs differ by more than',
    unit: 'percent',
    hint: OF_THE_WEEKDAY,
    suggested: 30,
    max: 1_000,
    every: 60,
  },
  no_events: {
    label: 'No events arrive for',
    unit: 'hours',
    hint: 'Once the application has sent its first event',
    suggested: 1,
    max: 720,
    every: 5,
  },
  service_problems: {
    label: 'Health shows at least',
    unit: 'problems',
    hint: 'Events that are not counted, failing exports, stores that fill up, scheduled work that does not run',
    suggested: 1,
    max: 10,
    every: 5,
  },
  spend_without_installs: {
    label: 'A campaign has no installs and spends more than',
    unit: 'money',
    hint: 'Yesterday, by campaign',
    suggested: 20,
    max: 1e9,
    every: 60,
  },
  cpi_above: { label: 'CPI is above', unit: 'money', hint: SEVEN_DAYS, suggested: 2, max: 1e9, every: 60 },
  roas_below: {
    label: 'ROAS is below',
    unit: 'percent',
    hint: SEVEN_DAYS,
    suggested: 50,
    max: 100_000,
    every: 60,
  },
} as const satisfies Record<string, Kind>;

export type AlertKind = keyof typeof ALERT_KINDS;

export const ALERT_KIND_NAMES = Object.keys(ALERT_KINDS) as [AlertKind, ...AlertKind[]];

export const isAlertKind = (name: string): name is AlertKind => Object.hasOwn(ALERT_KINDS, name);

/** An alert of a kind as a sentence: `CPI is above $2.00`. */
export function kindText({ kind, threshold }: { kind: string; threshold: number }, currency: string): string {
  if (!isAlertKind(kind)) return kind;
  const { label, unit } = ALERT_KINDS[kind];
  if (unit === 'money') return `${label} ${money(threshold, currency)}`;
  if (unit === 'percent') return `${label} ${threshold}%`;
  return `${label} ${threshold} ${threshold === 1 ? unit.slice(0, -1) : unit}`;
}
