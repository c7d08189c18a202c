import type { LoggedEvent } from '#catalogue';
import { findNamedDevice, readToken, takesEventsUntil } from '#devices';
import { queueFor, settingsOf } from '#env';
import { type Fault, unavailable } from '#http';
import { newId } from '#lib/ids';
import { logWarning } from '#lib/log';
import { dayIn, zoneOffset } from '#lib/time';
import type { ImpressionTemplate } from '#networks';
import { type EventMessage, sendWithRetry } from '#rollup';
import type { Impression } from './read-callback.ts';

type Application = { id: string; timezone: string; shards: number };

type Device = { id: string; shard: number; acquiredDay: string; creativeId: string | null; test: boolean };

async function findDevice(
  env: Env,
  application: Application,
  is: ImpressionTemplate['device_is'],
  name: string,
  now: number,
): Promise<Device | null> {
  if (is === 'device_id') return findNamedDevice(env, application, [name]);
  const claims = await readToken(name, settingsOf(env).TOKEN_SECRET);
  if (!claims || claims.applicationId !== application.id || takesEventsUntil(claims) <= now) return null;
  const { deviceId: id, shard, acquiredDay, creativeId } = claims;
  return { id, shard, acquiredDay, creativeId, test: false };
}

/** The device, or why there is none. Platforms do not send a callback again, so a failed search costs the device and not the revenue. */
async function deviceOf(
  env: Env,
  application: Application,
  template: ImpressionTemplate,
  { device: name }: Impression,
  now: number,
): Promise<{ device: Device | null; fault: Fault | null }> {
  const path = template.device ?? 'device';
  const none = (message: string) => ({ device: null, fault: { path, message } });
  if (name === null) return none('names no device; counted without one');
  try {
    const device = await findDevice(env, application, template.device_is, name, now);
    return device ? { device, fault: null } : none('is of no known device; counted without one');
  } catch (error) {
    logWarning('device of an impression not found', error, { application_id: application.id });
    return none('could not be looked up; counted without a device');
  }
}

/**
 * Sends the event of an impression to the queue, and returns its id. The platform's id is its key, so a repeated callback counts once. Throws
 * `unavailable` if the queue does not accept it.
 */
export async function receiveImpression(
  env: Env,
  application: Application,
  template: ImpressionTemplate,
  impression: Impression,
  now: number,
): Promise<string> {
  const { device, fault } = await deviceOf(env, application, template, impression, now);
  const { occurredAt, currency, country } = impression;
  const offset = zoneOffset(application.timezone, occurredAt);
  const warnings = [...impression.warnings, ...(fault ? [fault] : [])];
  const shared = {
    id: newId('evt'),
    application_id: application.id,
    day: dayIn(application.timezone, occurredAt),
    occurred_at: occurredAt,
    received_at: now,
    ...(offset ? { zone_offset: offset } : {}),
    // Without a day, the key matches at any time.
    keys: [`i:${impression.id}`],
    ad_id: impression.placement,
    source: impression.adFormat,
    ...(impression.network ? { media_source: impression.network } : {}),
    value_nanos: impression.nanos,
    currency,
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  const event: LoggedEvent = device
    ? {
        ...shared,
        type: 'custom.ad',
        device_id: device.id,
        creative_id: device.creativeId,
        acquired_day: device.acquiredDay,
        ...(device.shard ? { shard: device.shard } : {}),
        ...(device.test ? { test: true } : {}),
      }
    : { ...shared, type: 'mediation.ad', creative_id: null, ...(country ? { country } : {}) };
  const message: EventMessage = { v: 1, events: [event] };
  const queue = queueFor(env, application.id, event.shard ?? 0);
  if (!(await sendWithRetry(() => queue.send(message)))) throw unavailable();
  return event.id;
}
