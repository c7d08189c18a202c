/** The Android package in a Play Store URL, as in `https://play.google.com/store/apps/details?id=com.example.game`. */
export function packageNameOf(storeUrl: string | null): string | null {
  const url = URL.parse(storeUrl ?? '');
  const id = url?.hostname === 'play.google.com' ? url.searchParams.get('id') : null;
  return id && /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(id) ? id : null;
}

const APP_STORE_HOSTS = new Set(['apps.apple.com', 'itunes.apple.com', 'geo.itunes.apple.com']);

/**
 * The App Store id of an app, from its store URL, as in `https://apps.apple.com/us/app/chess/id525463029?mt=8`. Null if it is not the URL of an
 * app in the App Store. The only reader of these URLs: what it finds is stored (`applications.app_store_id`), and everything else compares that.
 */
export function appStoreIdOf(storeUrl: string | null | undefined): string | null {
  const url = URL.parse(storeUrl ?? '');
  if (url?.protocol !== 'https:' || !APP_STORE_HOSTS.has(url.host)) return null;
  return /^.*\/id(\d{1,19})(?:\/|$)/.exec(url.pathname)?.[1] ?? null;
}
