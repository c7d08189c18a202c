export { appLinkEnd, opensApp } from './app-links.ts';
export { trackingHost, trackingLink } from './base-url.ts';
export { LINK_TOKEN } from './links.ts';
export { serverLinks } from './server-side.ts';
