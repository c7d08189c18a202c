import { retryCall } from '#counting';
import type { DeliveryFilter, DestinationHealth, StoredDelivery } from './object/api.ts';

/** How a destination does. */
export const healthOf = (env: Env, id: string): Promise<DestinationHealth> =>
  retryCall<DestinationHealth>(async () => await env.DESTINATIONS.getByName(id).health());

/** The deliveries of a destination, the newest first. `before`: those before the event with this id; empty for the first. */
export const deliveriesOf = (
  env: Env,
  id: string,
  filter: DeliveryFilter,
  before: string,
  limit: number,
): Promise<StoredDelivery[]> =>
  retryCall<StoredDelivery[]>(
    async () => await env.DESTINATIONS.getByName(id).deliveries(filter, before, limit),
  );
