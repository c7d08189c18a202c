export { eventStatus } from './event-status.ts';
export { EventsQuery, listEvents, listEventsWithStatus, type ShownStatus } from './list-events.ts';
export type { EventStatus } from './operations.ts';
