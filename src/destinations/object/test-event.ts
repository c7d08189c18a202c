import { newId } from '#lib/ids';
import { NETWORKS } from '#networks';
import type { OutboundEvent } from '#networks/outbound';
import { kindOf } from '../kinds.ts';
import { partsOf } from '../template.ts';
import { listed } from '../webhook.ts';
import type { Setup } from './setup.ts';

/** Of no device, so that no network finds one by it. */
const NO_DEVICE = '7e577e57-7e57-4e57-8e57-7e577e577e57';
const TEST = 'test';

const filled = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, TEST]));

/** What the destination's templates name after a macro: `fbclid` of `{click.fbclid}`. */
const namedBy = (macro: string, { given }: Setup): string[] =>
  Object.values(given.settings)
    .flatMap(partsOf)
    .flatMap((part) => (typeof part !== 'string' && part.name === macro ? [part.argument] : []));

/** An event of a type with everything that a device of this OS may tell, and that the destination takes. */
function fullEvent(setup: Setup, type: string, os: string, now: number): OutboundEvent {
  const { application, filter, given, kind } = setup;
  const isPurchase = type === 'purchase' || type === 'refund';
  const network = NETWORKS.find(({ id }) => id === kind);
  const properties = [...namedBy('property', setup), ...listed(given.settings.properties)];
  return {
    ...{ id: newId('evt'), type, at: now },
    application: {
      ...{ id: application.id, name: application.name },
      storeId: os === 'ios' ? application.stores.ios : application.stores.android,
    },
    ...{ os, osVersion: os === 'ios' ? '26.0' : '16', appVersion: '1.0', country: filter.country ?? 'us' },
    ...{ timeZone: 'America/New_York', deviceId: newId('dev') },
    ...{ advertisingId: NO_DEVICE, vendorId: NO_DEVICE },
    value: isPurchase || type === 'ad' ? { nanos: 1_990_000_000n, currency: 'usd' } : null,
    purchase: isPurchase ? { transactionId: TEST, productId: TEST } : null,
    ad: type === 'ad' ? { network: TEST, format: 'banner' } : null,
    properties: type.startsWith('custom:') ? filled(properties) : {},
    attribution: {
      ...{ network: filter.network ?? network?.id ?? TEST, method: TEST, clickAt: now },
      click: filled([...(network?.clickIds ?? []), ...namedBy('click', setup)]),
      campaign: { id: filter.campaign_id ?? 'cmp_test', name: 'Test' },
      adset: { id: 'ads_test', name: 'Test' },
      creative: { id: 'crt_test', name: 'Test' },
    },
    consent: { limitAdTracking: null, attStatus: os === 'ios' ? 'authorized' : null, adUserData: true },
  };
}

async function isSent(event: OutboundEvent, { kind, given }: Setup, now: number): Promise<boolean> {
  try {
    const { prepare } = kindOf(kind);
    return !('skipped' in (await prepare(event, { ...given, isTest: true }, now)));
  } catch {
    // Whoever delivers it logs the reason.
    return false;
  }
}

/**
 * An event that nobody sent, to try the destination out: the first of its types, and of the systems that it takes, that it would not skip. If it
 * skips them all, the first, of which it says why.
 */
export async function testEventOf(setup: Setup, now: number): Promise<OutboundEvent> {
  const [first = 'install', ...others] = setup.events;
  const { os } = setup.filter;
  const systems = os === undefined ? ['android', 'ios'] : [os];
  for (const type of [first, ...others]) {
    for (const system of systems) {
      const event = fullEvent(setup, type, system, now);
      if (await isSent(event, setup, now)) return event;
    }
  }
  return fullEvent(setup, first, os ?? 'android', now);
}
