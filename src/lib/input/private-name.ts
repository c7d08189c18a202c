import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { RecentMap } from '../collections/recent-map.ts';
import { isPublicAddress, publicUrlFault } from './public-url.ts';

// A public name may resolve to a private address. A Worker's requests leave through Cloudflare's edge, which reaches public addresses only,
// so such a name leads nowhere: it is refused to say so at once, not to protect anything.

/** The addresses of a name; none if they cannot be found out. */
export type Resolve = (host: string) => Promise<string[]>;

// Source: developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json/
const RESOLVER = 'https://cloudflare-dns.com/dns-query';
const TIMEOUT_MS = 2_000;
const REMEMBERED_MS = 300_000;
const MAX_REMEMBERED = 200;

/** Answers also have the aliases that led to an address. */
const Answers = z.object({ Answer: z.array(z.object({ data: z.string() })).default([]) });

async function ask(host: string, type: 'A' | 'AAAA'): Promise<string[]> {
  const answer = await fetch(`${RESOLVER}?${new URLSearchParams({ name: host, type })}`, {
    headers: { Accept: 'application/dns-json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { data } = Answers.safeParse(await answer.json());
  return (data?.Answer ?? []).map(({ data: text }) => text).filter((text) => ipaddr.isValid(text));
}

const resolveName: Resolve = async (host) => {
  const found = await Promise.allSettled([ask(host, 'A'), ask(host, 'AAAA')]);
  return found.flatMap((answers) => (answers.status === 'fulfilled' ? answers.value : []));
};

const remembered = new RecentMap<string, { until: number; addresses: string[] }>(MAX_REMEMBERED);

async function addressesOf(host: string, resolve: Resolve): Promise<string[]> {
  const known = remembered.get(host);
  if (known && known.until > Date.now()) return known.addresses;
  const addresses = await resolve(host);
  remembered.set(host, { until: Date.now() + REMEMBERED_MS, addresses });
  return addresses;
}

/**
 * Explains why nothing must be sent to the name of a URL's host; null if it has only public addresses, or if they cannot be found out
 * within 2 s. For URLs that `publicUrlFault` allows. An answer is remembered for 5 minutes.
 */
export async function privateNameFault(
  { hostname }: URL,
  resolve: Resolve = resolveName,
): Promise<string | null> {
  if (hostname === 'localhost' || ipaddr.isValid(hostname.replace(/^\[|\]$/g, ''))) return null;
  const addresses = await addressesOf(hostname, resolve);
  return addresses.every(isPublicAddress) ? null : 'must not lead to a private or local address';
}

/** `publicUrlFault`, and what the name of the host leads to: all that is checked before something is sent to a URL. */
export async function receiverFault(
  url: string,
  options: Parameters<typeof publicUrlFault>[1],
  resolve?: Resolve,
): Promise<string | null> {
  return publicUrlFault(url, options) ?? privateNameFault(new URL(url), resolve);
}

/** Looks up each name once, for requests that are sent together. Not for longer than an invocation, which alone may wait for what it began. */
export function resolvingOnce(resolve: Resolve = resolveName): Resolve {
  const begun = new Map<string, Promise<string[]>>();
  return (host) => {
    const addresses = begun.get(host) ?? resolve(host);
    begun.set(host, addresses);
    return addresses;
  };
}
