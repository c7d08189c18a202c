export type { EventStatus } from './answers.ts';
export { eventStatus } from './event-status.ts';
export { EventsQuery, listEventsWithStatus, type ShownStatus } from './list-events.ts';
