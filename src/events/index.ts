export { deviceRoutes } from './device-routes.ts';
export { type EventStatus, eventStatus } from './event-status.ts';
export {
  EVENT_COLUMNS,
  EVENT_TYPES,
  EventsQuery,
  listEvents,
  listEventsWithStatus,
  type ShownStatus,
} from './list-events.ts';
export { eventRoutes } from './routes.ts';
