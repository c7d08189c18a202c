export type { Connector } from './answers.ts';
export {
  createConnector,
  deleteConnector,
  getConnector,
  listConnectors,
  NewBackfill,
  NewConnector,
  scheduleConnector,
  showConnector,
  startBackfill,
} from './connectors.ts';
export { ConnectorChanges, replaceCredentials } from './credentials.ts';
export { CONNECTOR_KINDS, type ConnectorKind, fieldsOf, KINDS, kindOf } from './kinds.ts';
export { MAX_DAYS as MAX_RECONCILED_DAYS, ReconciliationQuery, reconcileAdRevenue } from './reconcile.ts';
export { runDueConnectors } from './run.ts';
