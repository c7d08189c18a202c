export { EVENT_COLUMNS, EVENT_TYPES, EventsQuery } from './list-events.ts';
export { eventRoutes } from './routes.ts';
