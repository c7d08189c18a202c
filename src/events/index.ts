export { type EventStatus, eventStatus } from './event-status.ts';
export { EventsQuery, listEvents, listEventsWithStatus, type ShownStatus } from './list-events.ts';
export { eventRoutes } from './routes.ts';
