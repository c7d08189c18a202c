export {
  type Alert,
  alertText,
  createAlert,
  createMetricAlert,
  listAlerts,
  NewAlert,
  removeAlert,
  withScope,
} from './alerts.ts';
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
export { type Evaluated, previewRule } from './evaluate.ts';
export { ALERT_KINDS, type AlertKind } from './kinds.ts';
export { MetricRule, RULE_GROUPS, valueText } from './rule.ts';
export { canMail, sendNotices } from './send.ts';
export { composeDigests, watchAlerts } from './watch.ts';
