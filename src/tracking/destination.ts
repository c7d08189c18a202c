import type { OsFamily } from '#catalogue';
import { parseQuery, type QueryParameters, queryOf, writeQuery } from './query.ts';

/** An https URL that a team has stored, with its parts: parsed once, because every click adds parameters to it. */
export type StoredUrl = { href: string; beforeQuery: string; parameters: QueryParameters; fragment: string };

/** The destinations of an application's links. */
export type LinkDestinations = {
  ios: StoredUrl | null;
  android: StoredUrl | null;
  fallback: StoredUrl | null;
};

/** `store` is an app store page. An app opened from there does not receive the click's id from a URL. */
export type LinkTarget = { kind: 'store' | 'fallback'; url: StoredUrl } | { kind: 'none' };

/** Query parameters beyond this total length are not passed on, because some browsers and stores truncate long URLs. */
const MAX_PASSED_ON = 1_000;

/** Redirects go only to https URLs that the team has stored, whatever an older version of this code accepted. */
export function httpsUrl(text: string | null): StoredUrl | null {
  if (text === null || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== 'https:') return null;
  const { href, hash: fragment } = url;
  url.search = '';
  url.hash = '';
  return { href, beforeQuery: url.href, parameters: queryOf(href), fragment };
}

const hrefOf = ({ beforeQuery, fragment }: StoredUrl, parameters: QueryParameters): string =>
  `${beforeQuery}?${writeQuery(parameters)}${fragment}`;

/**
 * Chooses where to send a person. Phones go to their own store or to the fallback. Any other system goes to a store that is configured,
 * preferably its own maker's, because a store page can be viewed from there.
 */
export function chooseDestination(
  { ios, android, fallback }: LinkDestinations,
  family: OsFamily,
): LinkTarget {
  const storeOf = {
    ios,
    android,
    macos: ios ?? android,
    windows: android ?? ios,
    linux: android ?? ios,
    other: android ?? ios,
  } satisfies Record<OsFamily, StoredUrl | null>;
  const store = storeOf[family];
  if (store) return { kind: 'store', url: store };
  return fallback ? { kind: 'fallback', url: fallback } : { kind: 'none' };
}

/** The parameters that are passed on. */
function passedOn(parameters: QueryParameters): QueryParameters {
  let length = 0;
  return parameters.filter(([name, value]) => {
    length += name.length + value.length + 2;
    return length <= MAX_PASSED_ON;
  });
}

const has = (parameters: QueryParameters, wanted: string): boolean =>
  parameters.some(([name]) => name === wanted);

const firstValue = (parameters: QueryParameters, wanted: string): string =>
  parameters.find(([name]) => name === wanted)?.[1] ?? '';

const without = (parameters: QueryParameters, unwanted: string): QueryParameters =>
  parameters.filter(([name]) => name !== unwanted);

/** The parameters of a link that its destination does not have. Those that it has win, because they may identify the application. */
const addedTo = ({ parameters }: StoredUrl, query: QueryParameters): QueryParameters =>
  passedOn(query).filter(([name]) => !has(parameters, name));

/** The destination with the link's query parameters. */
export function withParameters(destination: StoredUrl, query: QueryParameters): string {
  const added = addedTo(destination, query);
  return added.length === 0 ? destination.href : hrefOf(destination, [...destination.parameters, ...added]);
}

/**
 * Also adds `referrer`, which Google Play passes to the application after the installation. It has the click's id first, then the link's
 * query parameters and any referrer that was there before, so that other tools find theirs.
 */
export function withReferrer(destination: StoredUrl, clickId: string | null, query: QueryParameters): string {
  const others = without(query, 'referrer');
  const earlier = [destination.parameters, query].flatMap((parameters) =>
    passedOn(parseQuery(firstValue(parameters, 'referrer'))),
  );
  const referrer = new Map<string, string>(clickId === null ? [] : [['click_id', clickId]]);
  for (const [name, value] of passedOn([...others, ...earlier])) {
    if (!referrer.has(name)) referrer.set(name, value);
  }
  if (referrer.size === 0) return withParameters(destination, others);
  return hrefOf(destination, [
    ...without(destination.parameters, 'referrer'),
    ...addedTo(destination, others),
    ['referrer', writeQuery([...referrer])],
  ]);
}
