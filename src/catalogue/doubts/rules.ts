import type { DoubtRule } from './rule.ts';

const seconds = (ms: number) => Math.floor(ms / 1000);

/**
 * Click injection: malware sees an installation begin and reports a click. Either click may be the late one: ours, or the one that Play saw. Source:
 * Airbridge and Adjust, which compare the same times.
 */
export const clickAfterInstallBegan: DoubtRule = {
  id: 'click_after_install_began',
  version: 2,
  label: 'Click after the installation began',
  threshold: null,
  check: ({ clicked_at, play_clicked_at, play_install_began_at: began }) => {
    const clicks = [clicked_at, play_clicked_at].flatMap((at) => at ?? []);
    if (began === null || clicks.length === 0) return undefined;
    const late = seconds(Math.max(...clicks)) - seconds(began);
    return late > 0 ? `the installation began ${late} s before the click` : null;
  },
};

/** Nobody installs as fast. A device whose clock is behind opens the app before the click: nothing is known then. */
export const fastInstall: DoubtRule = {
  id: 'fast_install',
  version: 1,
  label: 'Opened right after the click',
  threshold: { label: 'Seconds from the click to the first open', fallback: 10, min: 1, max: 3_600 },
  check: ({ clicked_at, first_opened_at }, threshold) => {
    if (clicked_at === null || first_opened_at < clicked_at) return undefined;
    const took = seconds(first_opened_at - clicked_at);
    return took < threshold
      ? `the app was first opened ${took} s after the click, sooner than ${threshold} s`
      : null;
  },
};

/** One click leads to one install. */
export const repeatedClick: DoubtRule = {
  id: 'repeated_click',
  version: 1,
  label: 'Click of several installs',
  threshold: { label: 'Installs that had used the click', fallback: 1, min: 1, max: 1_000 },
  check: ({ earlier_installs: earlier }, threshold) => {
    if (earlier === null) return undefined;
    return earlier >= threshold
      ? `${earlier} ${earlier === 1 ? 'install' : 'installs'} had already used this click. One click normally brings one install`
      : null;
  },
};

export const busyAddress: DoubtRule = {
  id: 'busy_address',
  version: 1,
  label: 'Many clicks from one address',
  threshold: { label: 'Clicks from the address', fallback: 50, min: 2, max: 200 },
  check: ({ address_clicks: clicks }, threshold) => {
    if (clicks === null) return undefined;
    return clicks >= threshold
      ? `${clicks} clicks came from the address of its click, ${threshold} or more`
      : null;
  },
};

/** Google Play and the tracking link saw different clicks. Source: OpenMasu, fraud bundle conservative-v1. */
export const differentClick: DoubtRule = {
  id: 'different_click',
  version: 1,
  label: 'Google Play saw another click',
  threshold: { label: 'Seconds between the two clicks', fallback: 300, min: 1, max: 86_400 },
  check: ({ clicked_at, play_clicked_at }, threshold) => {
    if (clicked_at === null || play_clicked_at === null) return undefined;
    const apart = seconds(Math.abs(clicked_at - play_clicked_at));
    return apart > threshold
      ? `Google Play saw the click ${apart} s from the credited one, more than ${threshold} s`
      : null;
  },
};
