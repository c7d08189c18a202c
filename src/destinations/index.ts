export {
  changeDestination,
  createDestination,
  type DestinationRow,
  deleteDestination,
  deliveriesOf,
  getDestination,
  healthOf,
  listDestinations,
  type OwnDestination,
  replayDeliveries,
  rotateSecret,
  testDestination,
} from './destinations.ts';
export { KIND_NAMES, kindOf } from './kinds.ts';
export type { Attempt, DestinationHealth, StoredDelivery } from './object/api.ts';
export { DeliveriesQuery, DestinationChanges, NewDestination, ReplayRequest } from './requests.ts';
export { STATUSES } from './statuses.ts';
