import { EVENT_STEP } from './events/custom.ts';
import { EVENT_KINDS } from './events/index.ts';
import type { EventColumn, ShownEvent } from './kind.ts';
import { findKind, type LoggedEvent } from './logged-event.ts';
import { DEVICE_DIMENSIONS, SEGMENT } from './segments.ts';

// Lists derived from the kinds of events, for documentation, pages and files.

type EventType = LoggedEvent['type'];

/** The types of events, as stored, listed and filtered. */
export const EVENT_TYPES = EVENT_KINDS.map(({ type }) => type) as [EventType, ...EventType[]];

const columns: readonly EventColumn[] = [
  ...EVENT_KINDS.flatMap<EventColumn>((kind) => kind.columns),
  ...DEVICE_DIMENSIONS.map((name): EventColumn => ({ name: SEGMENT[name].field, type: 'text' })),
];

/** The fields that only some kinds have, each once, and what events tell of their device. */
export const EVENT_COLUMNS: readonly EventColumn[] = [
  ...new Map(columns.map((column) => [column.name, column])).values(),
];

/** The labels of funnel steps that are known in advance. Steps of custom events are `event:<name>`. */
export const FUNNEL_STEPS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...EVENT_KINDS.map(({ steps }) => steps),
);

/** The possible funnel steps, for an error message. */
export const FUNNEL_STEP_FORMS = [...Object.keys(FUNNEL_STEPS), `${EVENT_STEP}<name>`].join(', ');

/** Whether a text names a funnel step. */
export const isFunnelStep = (step: string): boolean =>
  Object.hasOwn(FUNNEL_STEPS, step) || (step.startsWith(EVENT_STEP) && step.length > EVENT_STEP.length);

/** Example events as clients send them (type and payload), by what each demonstrates. */
export const EVENT_EXAMPLES: Readonly<Record<string, { type: string; payload: object }>> = Object.fromEntries(
  EVENT_KINDS.flatMap(({ wires }) =>
    wires.flatMap(({ type, examples }) =>
      Object.entries<object>(examples).map(([name, payload]) => [name, { type, payload }] as const),
    ),
  ),
);

/** The `type` values with which clients send each kind, and its description. */
export const SENT_KINDS: readonly { types: readonly string[]; description: string }[] = EVENT_KINDS.filter(
  ({ wires }) => wires.length > 0,
).map(({ wires, description }) => ({ types: wires.map(({ type }) => type), description }));

/** What people call an event of this type: `Ad impression` for `custom.ad`. An unknown type is its own name. */
export const eventLabel = (type: string): string =>
  EVENT_KINDS.find((kind) => kind.type === type)?.label ?? type;

/** Summarises an event in one line. `amount` is its `value` as money, empty if it has none. */
export const summarise = (shown: ShownEvent & { type: string }, amount: string): string =>
  findKind(shown)?.summarise(shown, amount) ?? '';
