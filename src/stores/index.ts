export { listNotifications, pruneNotifications } from './receive.ts';
