/** The Android package in a Play Store URL, as in `https://play.google.com/store/apps/details?id=com.example.game`. */
export function packageNameOf(storeUrl: string | null): string | null {
  const url = URL.parse(storeUrl ?? '');
  const id = url?.hostname === 'play.google.com' ? url.searchParams.get('id') : null;
  return id && /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)+$/.test(id) ? id : null;
}
