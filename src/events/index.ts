export { eventStatus } from './event-status.ts';
export { EventsQuery, listEventsWithStatus, type ShownStatus } from './list-events.ts';
export type { EventStatus } from './operations.ts';
