export { appLinkEnd, opensApp } from './app-links.ts';
export { LINK_TOKEN } from './links.ts';
export { appLinkRoutes, trackingHost, trackingLink, trackingRoutes } from './routes.ts';
export { serverLinks } from './server-side.ts';
