export { LINK_TOKEN } from './links.ts';
export { trackingHost, trackingLink, trackingRoutes } from './routes.ts';
