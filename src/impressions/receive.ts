import type { LoggedEvent } from '#catalogue';
import {
  findClickedDevice,
  findNamedDevice,
  type NamedDevice,
  readToken,
  shardOfName,
  takesEventsUntil,
} from '#devices';
import { settingsOf } from '#env';
import type { Fault, KeepAlive } from '#http';
import { newId } from '#lib/ids';
import { isOfPlaceholder } from '#lib/input/placeholder';
import { logWarning } from '#lib/log';
import { eventTimes } from '#lib/time';
import type { ImpressionTemplate } from '#networks';
import { sendEvent } from '#rollup';
import type { IntakeApplication } from '#teams';
import type { Impression } from './read-callback.ts';

type ImpressionDevice = Omit<NamedDevice, 'country' | 'os' | 'network'>;

async function findDevice(
  env: Env,
  application: IntakeApplication,
  is: ImpressionTemplate['device_is'],
  name: string,
  now: number,
): Promise<ImpressionDevice | null> {
  if (is === 'device_id') return findNamedDevice(env, application, [name]);
  if (is === 'click_id') return findClickedDevice(env, application, name);
  const claims = await readToken(name, settingsOf(env).TOKEN_SECRET);
  if (!claims || claims.applicationId !== application.id || takesEventsUntil(claims) <= now) return null;
  const { deviceId: id, shard, acquiredDay, creativeId, creditOpen = false } = claims;
  return { id, shard, acquiredDay, creativeId, creditOpen, test: false };
}

/** The device, or why there is none. Platforms do not send a callback again, so a failed search costs the device and not the revenue. */
async function deviceOf(
  env: Env,
  application: IntakeApplication,
  template: ImpressionTemplate,
  { device: name }: Impression,
  now: number,
): Promise<{ device: ImpressionDevice | null; fault: Fault | null }> {
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
 * The counter of an impression without a device: the one that its device will have, so that a callback which is repeated once the device is known
 * is recognized there.
 */
async function shardWithout(
  env: Env,
  application: IntakeApplication,
  { device_is }: ImpressionTemplate,
  { device: name }: Impression,
): Promise<number> {
  if (name === null || device_is !== 'device_id') return 0;
  try {
    return await shardOfName(env, application, name);
  } catch (error) {
    logWarning('counter of an impression not found', error, { application_id: application.id });
    return 0;
  }
}

const rankOf = ({ message }: Fault): number => Number(isOfPlaceholder(message));

/**
 * Sends the event of an impression to the queue, and returns its id and what is to be said of it. The platform's id is its key, so a repeated callback counts once. Throws
 * `unavailable` if the queue does not accept it.
 */
export async function receiveImpression(
  env: Env,
  keepAlive: KeepAlive,
  application: IntakeApplication,
  template: ImpressionTemplate,
  impression: Impression,
  now: number,
): Promise<{ id: string; warnings: Fault[] }> {
  const { device, fault } = await deviceOf(env, application, template, impression, now);
  const shard = device?.shard ?? (await shardWithout(env, application, template, impression));
  const { occurredAt, currency, country } = impression;
  const all = [...impression.warnings, ...(fault ? [fault] : [])];
  // What follows for the impression comes before why.
  const warnings = all.toSorted((left, right) => rankOf(left) - rankOf(right));
  const shared = {
    id: newId('evt'),
    application_id: application.id,
    ...eventTimes(application.timezone, occurredAt, now),
    // Without a day, the key matches at any time.
    ...(impression.id === null ? {} : { keys: [`i:${impression.id}`] }),
    ad_id: impression.placement,
    source: impression.adFormat,
    ...(impression.network ? { media_source: impression.network } : {}),
    value_nanos: impression.nanos,
    currency,
    ...(shard === 0 ? {} : { shard }),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
  const event: LoggedEvent = device
    ? {
        ...shared,
        type: 'custom.ad',
        device_id: device.id,
        creative_id: device.creativeId,
        acquired_day: device.acquiredDay,
        ...(device.test ? { test: true } : {}),
      }
    : { ...shared, type: 'mediation.ad', creative_id: null, ...(country ? { country } : {}) };
  await sendEvent(env, keepAlive, event, device?.creditOpen === true);
  return { id: event.id, warnings };
}
