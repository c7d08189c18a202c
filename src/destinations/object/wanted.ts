import type { OutboundEvent } from '#networks/outbound';
import type { Names } from './names.ts';
import { toOutbound } from './outbound-event.ts';
import type { Setup } from './setup.ts';
import type { Job } from './store.ts';

/**
 * What the destination is told of some events, in order; null for an event of another campaign than it wants. `soon`: the events that are sent
 * next. Throws if D1 does not respond.
 */
export async function wantedOf(
  { jobs, soon }: { jobs: readonly Job[]; soon: readonly Job[] },
  { application, filter }: Setup,
  names: Names,
  now: number,
): Promise<(OutboundEvent | null)[]> {
  const known = await names.of(application.id, jobs, soon, now);
  return jobs.map(({ item }) => {
    const creative = known.creatives.get(item.event.creative_id ?? '');
    if (filter.campaign_id !== undefined && creative?.campaign.id !== filter.campaign_id) return null;
    const { click_id = '', click_params } = item.device?.attribution ?? {};
    const click = click_params ?? known.clicks.get(click_id);
    return toOutbound(item, application, { creative, click });
  });
}
