export {
  type AlertRow,
  alertText,
  changeAlert,
  createAlert,
  findAlert,
  listAlerts,
  type NewAlert,
  removeAlert,
  StateAlert,
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
export { type Evaluated, type EvaluatedGroup, namesLeftOut, previewRule } from './evaluate.ts';
export { findLastFired, listChanges } from './history.ts';
export { isStateKind, STATE_KIND_NAMES, STATE_KINDS } from './kinds.ts';
export {
  COMPARED_WITH,
  CONDITIONS,
  changeOf,
  isChange,
  MetricRule,
  RULE_GROUPS,
  readFiringGroups,
  readRule,
} from './rule.ts';
export { canMail, sendNotices } from './send.ts';
export { composeDigests, watchAlerts } from './watch.ts';
export { watchDatabase } from './watch-database.ts';
