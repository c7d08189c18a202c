import { EVENT_STEP } from './events/custom.ts';
import { EVENT_KINDS } from './events/index.ts';
import type { EventColumn, ShownEvent } from './kind.ts';
import { kindOf, type LoggedEvent } from './logged-event.ts';

// Lists that are made from the kinds, for documentation, pages and files.

export type EventType = LoggedEvent['type'];

/** The types of events as they are stored, listed and filtered by. */
export const EVENT_TYPES = EVENT_KINDS.map(({ type }) => type) as [EventType, ...EventType[]];

const columns: readonly EventColumn[] = EVENT_KINDS.flatMap<EventColumn>((kind) => kind.columns);

/** The fields that only some kinds have, each once. */
export const EVENT_COLUMNS: readonly EventColumn[] = [
  ...new Map(columns.map((column) => [column.name, column])).values(),
];

/** Label of each funnel step that is known beforehand; those of custom events are `event:<name>`. */
export const FUNNEL_STEPS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...EVENT_KINDS.map(({ steps }) => steps),
);

/** What funnel steps are, for an error text. */
export const FUNNEL_STEP_FORMS = [...Object.keys(FUNNEL_STEPS), `${EVENT_STEP}<name>`].join(', ');

/** Whether a text names a funnel step. */
export const isFunnelStep = (step: string): boolean =>
  Object.hasOwn(FUNNEL_STEPS, step) || (step.startsWith(EVENT_STEP) && step.length > EVENT_STEP.length);

/** Type and payload of events as clients send them, by what each shows. */
export const EVENT_EXAMPLES: Readonly<Record<string, { type: string; payload: object }>> = Object.fromEntries(
  EVENT_KINDS.flatMap(({ wires }) =>
    wires.flatMap(({ type, examples }) =>
      Object.entries<object>(examples).map(([name, payload]) => [name, { type, payload }] as const),
    ),
  ),
);

/** A line that says what an event is about. `amount`: its `value` as money, empty where it has none. */
export const summarise = (shown: ShownEvent & { type: string }, amount: string): string =>
  kindOf(shown).summarise(shown, amount);
