export { type EventStatus, eventStatus } from './event-status.ts';
export { EventsQuery, listEvents } from './list-events.ts';
export { eventRoutes } from './routes.ts';
