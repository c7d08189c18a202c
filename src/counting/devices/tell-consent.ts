import { eq } from 'drizzle-orm';
import { type ToldConsent, tightest } from '#networks';
import type { DeviceDescription, NewConsent } from '../api.ts';
import type { OutboundConsent } from '../outbound/parts.ts';
import { devices } from '../schema.ts';
import type { ObjectStore } from '../store.ts';

const isSame = (left: ToldConsent | undefined, right: ToldConsent): boolean =>
  JSON.stringify(Object.entries(left ?? {}).sort()) === JSON.stringify(Object.entries(right).sort());

/** Keeps what a known device tells of the person's choices: see `CounterApi.tellConsent`. Null if nothing changes. */
export function keepConsent(
  store: ObjectStore,
  { deviceId, consent, at }: NewConsent,
): OutboundConsent | null {
  const row = store
    .select({ description: devices.description, acquiredAt: devices.acquiredAt })
    .from(devices)
    .where(eq(devices.id, deviceId))
    .get();
  if (!row) return null;
  const description: DeviceDescription = JSON.parse(row.description);
  const before = description.consent;
  const knownAt = description.consentAt ?? row.acquiredAt;
  // A device whose clock was set back still refuses.
  const merged = at >= knownAt ? { ...before, ...consent } : tightest(before, consent);
  if (isSame(before, merged)) return null;
  const consentAt = Math.max(at, knownAt);
  store
    .update(devices)
    .set({ description: JSON.stringify({ ...description, consent: merged, consentAt }) })
    .where(eq(devices.id, deviceId))
    .run();
  return { deviceId, consent: merged, consentAt };
}
