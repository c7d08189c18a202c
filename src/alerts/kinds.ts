/** Alerts on the state of an application. All others watch a metric: see `rule.ts`. */
export const STATE_KINDS = {
  no_events: {
    label: 'No events arrive for',
    unit: 'hours',
    /** Explains the threshold, next to its field. */
    hint: 'Hours, once the application has sent its first event',
    max: 720,
  },
  service_problems: {
    label: 'Health shows at least',
    unit: 'problems',
    hint: 'Problems: events that are not counted, failing exports, stores that fill up, scheduled work that does not run',
    max: 10,
  },
} as const satisfies Record<string, { label: string; unit: string; hint: string; max: number }>;

export type StateKind = keyof typeof STATE_KINDS;

export const STATE_KIND_NAMES = Object.keys(STATE_KINDS) as [StateKind, ...StateKind[]];

export const isStateKind = (name: string): name is StateKind => Object.hasOwn(STATE_KINDS, name);

/** An alert on a state as a sentence: `No events arrive for 1 hour`. */
export function stateText({ kind, threshold }: { kind: string; threshold: number }): string {
  if (!isStateKind(kind)) return kind;
  const { label, unit } = STATE_KINDS[kind];
  return `${label} ${threshold} ${threshold === 1 ? unit.slice(0, -1) : unit}`;
}
