export { forgetLinks } from './links.ts';
export { trackingHost, trackingLink, trackingRoutes } from './routes.ts';
