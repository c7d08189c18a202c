export { sendHeldNotifications } from './held.ts';
export { listNotifications, pruneNotifications } from './receive.ts';
