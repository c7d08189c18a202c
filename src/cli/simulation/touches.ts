import { inParallel } from '#lib/collections/in-parallel';
import { DAY_MS } from '#lib/time';
import { type Api, agentOf } from '../api.ts';
import { numberOf, REPORTED_WITHIN_MS, type SimulatedDevice, simulateImpressions } from './history.ts';
import { isIos } from './world.ts';

// The impressions and clicks that lead to devices: some reported by networks' servers, some by following a link.

export const PARALLEL = 6;
/** A day less than the attribution window: older devices name their creative themselves. */
export const NAMED_WITHIN_MS = 6 * DAY_MS;
/** How long the queue may take until a click can be found. */
const CLICKS_SETTLE_MS = 5_000;

export type TrackingLink = {
  url: string;
  network: string;
  token: string;
  clicks: string;
  impressions: string;
};

/** Reports impressions. Returns the addresses of the devices that saw one and install without a click. */
export async function showCreatives(
  api: Api,
  devices: readonly SimulatedDevice[],
  links: readonly TrackingLink[],
  seed: number,
  now: number,
) {
  const impressions = simulateImpressions(seed, devices, now);
  const addresses = new Map<string, string>();
  await inParallel(
    [...impressions.entries()],
    PARALLEL,
    async ([index, { id, creative, at, country, model, viewer }]) => {
      const link = links[creative];
      if (!link) return;
      // Documentation addresses (RFC 3849), each in a /64 of its own.
      const ip = `2001:db8:${(seed % 65_536).toString(16)}:${(index % 65_536).toString(16)}::1`;
      if (viewer !== null) addresses.set(viewer, ip);
      await api.report(link.impressions, {
        ...{ id, time: String(at), country: country.code, ua: agentOf(model.name, model.os) },
        network: link.network,
        ...(viewer === null ? {} : { ip }),
      });
    },
  );
  return addresses;
}

/**
 * Reports the clicks of devices that are older than those which follow a link: see `clickLinks`. Returns the ids of those that their devices may name:
 * older devices are outside the attribution window when they are sent, and name their creative themselves.
 */
export async function reportClicks(
  api: Api,
  devices: readonly SimulatedDevice[],
  links: readonly TrackingLink[],
  now: number,
): Promise<Map<string, string>> {
  const clicks = new Map<string, string>();
  const older = devices.filter(
    ({ acquiredAt }) => acquiredAt <= now - DAY_MS && acquiredAt > now - REPORTED_WITHIN_MS,
  );
  await inParallel(older, PARALLEL, async (device) => {
    const { id, acquiredAt, creative, country, model } = device;
    const link = links[creative ?? -1];
    if (!link) return;
    const time = String(acquiredAt - 1_000 * (numberOf(device) % 9 === 0 ? 5 : 90));
    const click = await api.report(link.clicks, {
      ...{ id: `${id}-clicked`, time, country: country.code, ua: agentOf(model.name, model.os) },
      network: link.network,
    });
    if (acquiredAt > now - NAMED_WITHIN_MS) clicks.set(id, click);
  });
  return clicks;
}

/** The service sets the time of a click itself, so only devices of the last day get clicks. Older ones name their creative. */
export async function clickLinks(
  api: Api,
  devices: readonly SimulatedDevice[],
  links: readonly TrackingLink[],
  now: number,
) {
  const referrers = new Map<string, string>();
  const recent = devices.filter(({ acquiredAt, creative }) => creative !== null && acquiredAt > now - DAY_MS);
  await inParallel(recent, PARALLEL, async ({ id, creative, model }) => {
    const link = links[creative ?? -1];
    const referrer = link && (await api.click(`${link.url}?network=${link.network}`, isIos(model)));
    if (referrer) referrers.set(id, referrer);
  });
  if (recent.length > 0) await new Promise((resolve) => setTimeout(resolve, CLICKS_SETTLE_MS));
  return referrers;
}
