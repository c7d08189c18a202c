export type { IdAndName } from '../id-and-name.ts';
export type {
  DeliveryOutcome,
  DestinationKind,
  DestinationSetup,
  OutboundEvent,
  OutboundRequest,
  PreparedRequest,
} from '../outbound.ts';
export { clickOf, isHiddenParameter } from './click.ts';
export { advertisingIdOf, consentOf, isTrackingLimited, refusalOf, withoutWithheldIds } from './consent.ts';
export { CONVERSIONS } from './list.ts';
export { readStatus } from './read-answer.ts';
