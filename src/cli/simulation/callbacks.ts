import { type SimulatedEvent, timeOf } from './history.ts';

/** The network whose impressions mediation tells of by callbacks, and no event. */
const CALLBACK_NETWORK = 'vungle';

/** The `impression_template` for the callbacks. */
export const CALLBACK_TEMPLATE = {
  ...{ amount: 'revenue', scale: 'unit', id: 'id', device: 'device', time: 'ts' },
  ...{ network: 'network', placement: 'ad_unit', ad_format: 'format' },
} as const;

const mediaSourceOf = ({ payload }: SimulatedEvent) => (payload as Record<string, unknown>).media_source;

/**
 * Divides the events of a device: what its backend sends, and the queries of mediation's callbacks, in the place of the other ad events. The last
 * ad is always sent, because its client's total includes all before.
 */
export function divideCallbacks(all: readonly SimulatedEvent[], device: string) {
  const last = all.findLast(({ type }) => type === 'custom.ad');
  const isTold = (event: SimulatedEvent) => event !== last && mediaSourceOf(event) === CALLBACK_NETWORK;
  return {
    events: all.filter((event) => !isTold(event)),
    callbacks: all.filter(isTold).map((event) => toCallback(event, device)),
  };
}

function toCallback(event: SimulatedEvent, device: string): Record<string, string> {
  const { value, ad_id, source } = event.payload as Record<string, unknown>;
  return {
    ...{ id: event.event_id, device, revenue: String(value), network: CALLBACK_NETWORK },
    ...{ ad_unit: String(ad_id), format: String(source) },
    ts: String(timeOf(event)),
  };
}
