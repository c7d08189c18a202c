import type { OsFamily } from '#catalogue';

/** The destinations of an application's links: https URLs that its team has stored. They are parsed once and must not be modified. */
export type Stores = { ios: URL | null; android: URL | null; fallback: URL | null };

/** `store` is an app store page. An app opened from there does not receive the click's id from a URL. */
export type Destination = { kind: 'store' | 'fallback'; url: URL } | { kind: 'none' };

/** Query parameters beyond this total length are not passed on, because some browsers and stores truncate long URLs. */
const MAX_PASSED_ON = 1_000;

// Redirects go only to https URLs that the team has stored, whatever an older version of this code accepted.
export function httpsUrl(text: string | null): URL | null {
  if (text === null || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' ? url : null;
}

/**
 * Chooses where to send a person. Phones go to their own store or to the fallback. Any other system goes to a store that is configured,
 * preferably its own maker's, because a store page can be viewed from there.
 */
export function chooseDestination({ ios, android, fallback }: Stores, family: OsFamily): Destination {
  const storeOf = {
    ios,
    android,
    macos: ios ?? android,
    windows: android ?? ios,
    linux: android ?? ios,
    other: android ?? ios,
  } satisfies Record<OsFamily, URL | null>;
  const store = storeOf[family];
  if (store) return { kind: 'store', url: store };
  return fallback ? { kind: 'fallback', url: fallback } : { kind: 'none' };
}

/** The link's own query parameters that are passed on. */
function keptParameters(query: URLSearchParams): [string, string][] {
  let length = 0;
  return [...query].filter(([name, value]) => {
    length += name.length + value.length + 2;
    return length <= MAX_PASSED_ON;
  });
}

/** Adds the link's query parameters. Parameters that the stored URL already has win, because they may identify the application. */
export function withParameters(destination: URL, query: URLSearchParams): URL {
  const url = new URL(destination);
  for (const [name, value] of keptParameters(query)) {
    if (!destination.searchParams.has(name)) url.searchParams.append(name, value);
  }
  return url;
}

/**
 * Adds `referrer`, which Google Play passes to the application after the installation. It has the click's id first, then the link's query
 * parameters and any referrer that was there before, so that other tools find theirs.
 */
export function withReferrer(destination: URL, clickId: string | null, query: URLSearchParams): URL {
  const parameters = new URLSearchParams(clickId === null ? [] : [['click_id', clickId]]);
  const others = new URLSearchParams(query);
  others.delete('referrer');
  const earlier = [destination.searchParams.get('referrer'), query.get('referrer')];
  for (const text of earlier) {
    for (const [name, value] of keptParameters(new URLSearchParams(text ?? ''))) others.append(name, value);
  }
  for (const [name, value] of keptParameters(others)) {
    if (!parameters.has(name)) parameters.append(name, value);
  }
  const kept = new URLSearchParams(query);
  kept.delete('referrer');
  const url = withParameters(destination, kept);
  if (parameters.size > 0) url.searchParams.set('referrer', parameters.toString());
  return url;
}
