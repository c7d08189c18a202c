export { Measurement } from './record.ts';
export { trackingHost, trackingLink, trackingRoutes } from './routes.ts';
