export { LINK_TOKEN } from './links.ts';
export { Measurement } from './record.ts';
export { trackingHost, trackingLink, trackingRoutes } from './routes.ts';
