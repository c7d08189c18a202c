export {
  type ConnectorRow,
  createConnector,
  deleteConnector,
  listConnectors,
  NewConnector,
  reencryptConnectors,
  scheduleConnector,
} from './connectors.ts';
export { CONNECTOR_KINDS, PLATFORMS } from './platforms.ts';
export { ReconciliationQuery, reconcileAdRevenue } from './reconcile.ts';
export { runDueConnectors } from './run.ts';
