export { type Alert, createAlert, listAlerts, NewAlert, removeAlert } from './alerts.ts';
export {
  type Channel,
  channelText,
  createChannel,
  encryptWebhooks,
  listChannels,
  NewChannel,
  removeChannel,
  sendTestMessage,
} from './channels.ts';
export { DIGESTS } from './digest-time.ts';
export { ALERT_KINDS, type AlertKind, alertText } from './kinds.ts';
export { canMail, sendNotices } from './send.ts';
export { composeDigests, watchAlerts } from './watch.ts';
