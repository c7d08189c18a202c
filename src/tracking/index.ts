export { trackingHost, trackingLink, trackingRoutes } from './routes.ts';
