export {
  changeDestination,
  createDestination,
  type DestinationRow,
  deleteDestination,
  getDestination,
  listDestinations,
  type OwnDestination,
  rotateSecret,
} from './destinations.ts';
export { KIND_NAMES, kindOf } from './kinds.ts';
export type { Attempt, DestinationHealth, StoredDelivery } from './object/api.ts';
export { deliveriesOf, healthOf } from './read.ts';
export { DeliveriesQuery, DestinationChanges, NewDestination, ReplayRequest } from './requests.ts';
export { STATUSES } from './statuses.ts';
export { replayDeliveries, testDestination } from './use.ts';
