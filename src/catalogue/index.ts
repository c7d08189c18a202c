export { EventEnvelope, fieldsOf, keysOfEnvelope, SENT_TYPES, sentKeyOf } from './envelope.ts';
export { ClickCountry, ClickParams, MAX_CLICK_PARAM_CHARS, MAX_CLICK_PARAMS } from './events/click.ts';
export { EVENT_STEP } from './events/custom.ts';
export { EVENT_KINDS } from './events/index.ts';
export type { ClientTotal, ColumnType, EventColumn, EventKind, Rollups, ShownEvent } from './kind.ts';
export {
  EVENT_COLUMNS,
  EVENT_EXAMPLES,
  EVENT_TYPES,
  type EventType,
  FUNNEL_STEP_FORMS,
  FUNNEL_STEPS,
  isFunnelStep,
  summarise,
} from './lists.ts';
export { type DeviceEvent, isOfDevice, isSent, kindOf, LoggedEvent } from './logged-event.ts';
export { type Amounts, MEASURES, type RollupTable } from './measures.ts';
