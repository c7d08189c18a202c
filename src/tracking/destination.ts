import type { OsFamily } from '#catalogue';

/** Where an application's links lead. All three are https URLs that its team has stored, parsed once: nobody changes them. */
export type Stores = { ios: URL | null; android: URL | null; fallback: URL | null };

/** `store` is a page of an application store, where the way to the installed application loses the click's id. */
export type Destination = { kind: 'store' | 'fallback'; url: URL } | { kind: 'none' };

/** Query parameters beyond this length are left behind: some browsers and stores cut long addresses in the middle. */
const MAX_PASSED_ON = 1_000;

// Only what the team has stored and what is https is ever gone to, whatever an older version of this code let in.
export function httpsUrl(text: string | null): URL | null {
  if (text === null || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'https:' ? url : null;
}

/**
 * Where a person is sent on to. Phones go to their own store or to the fallback; any other system to whichever store there
 * is, which can be looked at from there, its own maker's first.
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

/** The link's own query parameters, as far as they are kept. */
function keptParameters(query: URLSearchParams): [string, string][] {
  let length = 0;
  return [...query].filter(([name, value]) => {
    length += name.length + value.length + 2;
    return length <= MAX_PASSED_ON;
  });
}

/** Adds the link's query parameters. One that the stored address has itself keeps its value: it may say which application. */
export function withParameters(destination: URL, query: URLSearchParams): URL {
  const url = new URL(destination);
  for (const [name, value] of keptParameters(query)) {
    if (!destination.searchParams.has(name)) url.searchParams.append(name, value);
  }
  return url;
}

/**
 * Adds `referrer`, which Google Play hands to the application after the installation: the click's id first, then the link's
 * query parameters and a referrer that was there before, so that other tools find theirs.
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
