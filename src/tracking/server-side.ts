import * as z from 'zod';
import { hashKeyOf } from '#hashing';
import {
  type AppContext,
  AppError,
  callerNetwork,
  keepAliveOf,
  noteAbsent,
  oneOf,
  optionalCountry,
  optionalText,
  readAs,
  requireWithin,
  unavailable,
} from '#http';
import { hmac } from '#lib/crypto';
import { toBase64Url } from '#lib/encoding/base64url';
import { toHex } from '#lib/encoding/hex';
import { firstIdAt, newId } from '#lib/ids';
import { placeholderFault, placeholderId } from '#lib/input/placeholder';
import { addressIn } from '#lib/network';
import { DAY_MS } from '#lib/time';
import { readEpochOrText } from '#lib/timestamp';
import type { ServerSideRecorded } from './answers.ts';
import { absentParams, clickParams } from './click-details.ts';
import type { Link } from './links.ts';
import type { QueryParameters } from './query.ts';
import { publicClickId, recordClick } from './record.ts';
import { readUserAgent } from './user-agent.ts';

// Clicks and impressions that a network's server reports to a link, with the secret of that link. Nobody is redirected.

/** Adjust and others take server-side reports as late. */
const MAX_AGE_MS = 28 * DAY_MS;

/** The clocks of others differ by so much. */
const CLOCK_SKEW_MS = 60_000;

const TIME_FAULT =
  'must be a time of the last 28 days, in seconds or milliseconds since 1970 or as ISO 8601 with a zone';

const isPossible = (text: string): boolean => {
  const at = readEpochOrText(text);
  return at !== null && at >= Date.now() - MAX_AGE_MS;
};

/** What describes a click or impression. Other parameters are stored with it, as those of a link are. */
const ServerSideQuery = z.lazy(() =>
  z.object({
    event: oneOf(['click', 'impression']).default('click'),
    ip: optionalText(512).refine(
      (address) => address === undefined || addressIn(address) !== null,
      'must be the IP address of the device',
    ),
    ua: optionalText(2048),
    country: optionalCountry(),
    time: optionalText(64).refine((text) => text === undefined || isPossible(text), TIME_FAULT),
    id: optionalText(256),
  }),
);

/** Parameters that are not stored: they are read, and an address and a secret must not be kept. */
const NOT_STORED: ReadonlySet<string> = new Set(['s2s', 'event', 'ip', 'ua', 'time']);

/** 16 bytes. Derived from the key of hashes, which lasts, so a link keeps its secret while the deployment's secrets are rotated. */
async function linkSecret(env: Env, creativeId: string): Promise<string> {
  const mac = await hmac(await hashKeyOf(env), `s2s:${creativeId}`);
  return toBase64Url(mac.slice(0, 16));
}

/** The URLs to which a network's server reports clicks on a creative and its impressions. Whoever has them can report any. */
export async function serverLinks(env: Env, creativeId: string, trackingLink: string) {
  const click = `${trackingLink}?s2s=${await linkSecret(env, creativeId)}`;
  return { click, impression: `${click}&event=impression` };
}

/**
 * The id of a click or impression of `at` (epoch milliseconds), from which it begins. A network's own id of it, with its time, gives the same id
 * whenever it is reported again.
 */
async function idOf(env: Env, link: Link, prefix: 'clk' | 'imp', at: number, repeatKey: string | null) {
  const id = newId(prefix);
  const start = firstIdAt(prefix, at);
  if (repeatKey === null) return start + id.slice(start.length);
  const mac = await hmac(
    await hashKeyOf(env),
    `touch:${link.applicationId}:${link.creativeId}:${prefix}:${repeatKey}`,
  );
  return start + toHex(mac, 0, 10);
}

const firstOf = (query: QueryParameters, wanted: string): string =>
  query.find(([name]) => name === wanted)?.[1] ?? '';

const NOT_COUNTED = { success: true, counted: false, id: null } as const;

/**
 * Records what a network's server reports, and waits until the queue has taken it. Throws `unauthenticated` for a wrong secret, `invalid_request`
 * for a malformed parameter and `unavailable` if the queue takes nothing: the server may then repeat the request.
 */
export async function recordServerSide(
  c: AppContext,
  link: Link,
  { secret, query, now }: { secret: string; query: QueryParameters; now: number },
): Promise<ServerSideRecorded> {
  if (secret !== (await linkSecret(c.env, link.creativeId))) {
    await requireWithin(c.env.CLICK_LIMIT, `s2s:${callerNetwork(c)}`);
    throw new AppError('unauthenticated', 's2s is not the secret of this link');
  }
  const idFault = placeholderFault('id', firstOf(query, 'id'), placeholderId);
  const [read, stored] = [
    query.filter(([name]) => NOT_STORED.has(name)),
    query.filter(([name]) => name !== 'id' && !NOT_STORED.has(name)),
  ];
  const absent = [...absentParams(read), ...absentParams(stored), ...(idFault ? [idFault] : [])];
  // Two reports that share it would be one. What else a network does not fill in is refused below, by name.
  const named = idFault ? query.filter(([name]) => name !== 'id') : query;
  const sent = readAs(ServerSideQuery, Object.fromEntries(named.toReversed()));
  const { event, ip = '', ua = '', country, time, id } = sent;
  const browser = readUserAgent(ua);
  if (!link.dataCollection) return { ...NOT_COUNTED, reason: 'data collection is off' };
  // Without a user agent nothing is known of the device, which is no sign of a robot here.
  if (ua !== '' && browser.isRobot) return { ...NOT_COUNTED, reason: 'the user agent is a robot' };
  const told = time === undefined ? now : (readEpochOrText(time) ?? now);
  const at = Math.min(now, told);
  if (told > now + CLOCK_SKEW_MS)
    absent.push({ path: 'time', message: 'is in the future; dated when received' });
  const prefix = event === 'impression' ? 'imp' : 'clk';
  const touchId = await idOf(c.env, link, prefix, at, id !== undefined && time !== undefined ? id : null);
  const details = {
    country,
    params: clickParams(named.filter(([name]) => !NOT_STORED.has(name))),
  };
  const visitor = { browser, address: addressIn(ip) ?? '' };
  if (!(await recordClick(c.env, keepAliveOf(c), link, touchId, visitor, details, now, at))) {
    throw unavailable();
  }
  noteAbsent(c, link.applicationId, absent);
  return {
    success: true,
    counted: true,
    ...(absent.length > 0 ? { warnings: absent } : {}),
    id: prefix === 'imp' ? touchId : await publicClickId(c.env, link, touchId),
  };
}
