import * as z from 'zod';
import type { ClickRecord } from '#attribution';
import { hashAddress, isImpressionId, readClickId, signClickId } from '#attribution';
import type { LoggedEvent } from '#catalogue';
import { settingsOf } from '#env';
import { hashKeyOf } from '#hashing';
import { type KeepAlive, requiredNumber, requiredText } from '#http';
import { newId } from '#lib/ids';
import { logError } from '#lib/log';
import { canonicalTimezone, eventTimes, HOUR_MS, isTimezone } from '#lib/time';
import { networkOfParams } from '#networks';
import { enqueueClick } from '#rollup';
import type { Link } from './links.ts';
import type { Browser } from './user-agent.ts';

/** The landing page reports within seconds; an hour allows for a suspended tab. */
const MEASURED_WITHIN_MS = HOUR_MS;

const pixels = () => requiredNumber(1e5).refine((size) => size > 0, 'must be more than 0');

/** What the landing page sends. */
export const Measurement = z.lazy(() =>
  z.object({
    click_id: requiredText(128),
    timezone: requiredText(64).refine(isTimezone, 'must be an IANA time zone'),
    screen_width: pixels(),
    screen_height: pixels(),
    pixel_ratio: pixels(),
    touch_points: requiredNumber(1000).default(0),
  }),
);
export type Measurement = z.infer<typeof Measurement>;

/** The browser and address (`addressOf`) behind a click or a measurement. */
export type Visitor = { browser: Browser; address: string };
/** Known only from the request for the link: the country in lower case and the stored query parameters. */
export type ClickDetails = { country: string | undefined; params: Record<string, string> };

/** Null if the key is not known: a click counts without an address. */
async function hashVisitor(env: Env, applicationId: string, address: string): Promise<string | null> {
  try {
    return await hashAddress(await hashKeyOf(env), applicationId, address);
  } catch (error) {
    logError('address not hashed', error, { application_id: applicationId });
    return null;
  }
}

async function describeClick(env: Env, link: Link, clickId: string, visitor: Visitor): Promise<ClickRecord> {
  const { osFamily, osVersion, deviceModel } = visitor.browser;
  // If guessing is off, the address has no use, so it is not kept.
  const window = isImpressionId(clickId) ? link.viewWindowHours : link.probabilisticWindowHours;
  const address = window > 0 ? visitor.address : undefined;
  const ipHash = address ? await hashVisitor(env, link.applicationId, address) : null;
  return {
    application_id: link.applicationId,
    id: clickId,
    creative_id: link.creativeId,
    os_family: osFamily,
    ...(osVersion ? { os_version: osVersion } : {}),
    ...(deviceModel ? { device_model: deviceModel } : {}),
    ...(ipHash ? { ip_hash: ipHash } : {}),
  };
}

async function send(
  env: Env,
  keepAlive: KeepAlive,
  click: ClickRecord,
  event?: LoggedEvent,
): Promise<boolean> {
  if (await enqueueClick(env, keepAlive, click, event)) return true;
  const fields = event ? { event_id: event.id, application_id: event.application_id } : {};
  logError(event ? `${event.type} lost` : 'measurement lost', 'the queue took nothing', fields);
  return false;
}

export const newClickId = (): string => newId('clk');

/** The signed id of a click, which accompanies a person to the store. */
export async function publicClickId(env: Env, link: Link, clickId: string | null): Promise<string | null> {
  if (clickId === null) return null;
  return signClickId(settingsOf(env).KEY_ENCRYPTION_SECRET, link.applicationId, clickId, link.creativeId);
}

/**
 * Records a click or an impression of `at` (epoch milliseconds): the event to count and the row that attribution searches, in one message. The
 * event's id is derived from that of the click, so it counts once, however often the message is delivered. Ids are remembered for as long as messages of
 * now may be delivered, so one of an earlier time has its id as a key, too. Returns whether the queue took it.
 */
export async function recordClick(
  env: Env,
  keepAlive: KeepAlive,
  link: Link,
  clickId: string,
  visitor: Visitor,
  { country, params }: ClickDetails,
  now: number,
  at = now,
): Promise<boolean> {
  const network = link.network ?? networkOfParams(params);
  const details = {
    ...(country ? { country } : {}),
    ...(network ? { network } : {}),
    ...(Object.keys(params).length > 0 ? { params } : {}),
  };
  const described = await describeClick(env, link, clickId, visitor);
  const event: LoggedEvent = {
    id: clickId.replace(/^(?:clk|imp)_/, 'evt_'),
    application_id: link.applicationId,
    type: isImpressionId(clickId) ? 'impression' : 'click',
    creative_id: link.creativeId,
    ...eventTimes(link.timezone, at, now),
    os_family: described.os_family,
    ...details,
    ...(at < now ? { keys: [clickId] } : {}),
  };
  return send(env, keepAlive, { ...described, ...details }, event);
}

/** The click that a measurement completes. Its id must be recent and signed for this link's creative; null otherwise. */
export async function measuredClickId(
  env: Env,
  link: Link,
  measurement: Measurement,
  now: number,
): Promise<string | null> {
  const secret = settingsOf(env).KEY_ENCRYPTION_SECRET;
  const named = await readClickId(secret, link.applicationId, measurement.click_id);
  if (!named || named.creativeId !== link.creativeId) return null;
  return now - named.clickedAt <= MEASURED_WITHIN_MS ? named.id : null;
}

/** Adds the landing page's measurement to a click. The message may arrive before the click's. */
export async function recordMeasurement(
  env: Env,
  keepAlive: KeepAlive,
  link: Link,
  clickId: string,
  measurement: Measurement,
  visitor: Visitor,
): Promise<void> {
  const click = await describeClick(env, link, clickId, visitor);
  // An iPad identifies itself as a Mac, but no Mac has a touch screen.
  const isTablet = click.os_family === 'macos' && measurement.touch_points > 1;
  const measured: ClickRecord = {
    ...click,
    os_family: isTablet ? 'ios' : click.os_family,
    timezone: canonicalTimezone(measurement.timezone),
    screen_width: measurement.screen_width,
    screen_height: measurement.screen_height,
    pixel_ratio: measurement.pixel_ratio,
  };
  await send(env, keepAlive, measured);
}
