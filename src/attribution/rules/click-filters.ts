import type { ClickFilter } from './rule.ts';

const HOUR_MS = 3_600_000;
/** A device's clock may be wrong or in local time. Even so, an old install cannot come from a recent click. */
export const CLOCK_ERROR_MS = 24 * HOUR_MS;

/** A window includes its last millisecond. A click in the future comes from another isolate's clock and counts. */
export const outsideWindow: ClickFilter = {
  id: 'outside_window',
  refuses: ({ clickedAt }, { named, windows, now }) => {
    const windowMs = named ? windows.clickMs : windows.probabilisticMs;
    if (now - clickedAt <= windowMs) return null;
    return `it is older than the ${named ? 'attribution' : 'probabilistic'} window of ${windowMs / HOUR_MS} hours`;
  },
};

/** Several devices may name one click, which is then flagged. */
export const credited: ClickFilter = {
  id: 'credited',
  refuses: (click, { named }) =>
    click.credited && !named ? 'another device was already credited with it' : null,
};

export const otherSystem: ClickFilter = {
  id: 'other_system',
  refuses: ({ osFamily }, { named, device }) =>
    named || osFamily === device.osFamily ? null : 'it came from another operating system',
};

export const afterInstall: ClickFilter = {
  id: 'after_install',
  refuses: ({ clickedAt }, { named, device }) =>
    named || clickedAt <= device.acquiredAt + CLOCK_ERROR_MS
      ? null
      : 'the app was first opened more than a day earlier',
};
