/** The Android package in a Play Store URL, as in `https://play.google.com/store/apps/details?id=com.example.game`. */
export function packageNameOf(storeUrl: string | null): string | null {
  const url = URL.parse(storeUrl ?? '');
  const id = url?.hostname === 'play.google.com' ? url.searchParams.get('id') : null;
  return id && /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(id) ? id : null;
}

/** As in `https://apps.apple.com/us/app/chess/id525463029?mt=8`. */
const IN_STORE_URL = /^https:\/\/[^/]+\.apple\.com\/[^?#]*\/id(\d{1,19})(?:[/?#]|$)/i;

/** The App Store id of an app, from its store URL; null if the URL has none. */
export const appStoreIdOf = (storeUrl: string | null | undefined): string | null =>
  IN_STORE_URL.exec(storeUrl ?? '')?.[1] ?? null;
