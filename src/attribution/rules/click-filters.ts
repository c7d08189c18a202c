import { HOUR_MS } from '#lib/time';
import { type Click, type ClickFilter, isImpressionId, type Windows } from './rule.ts';

/** A device's clock may be wrong or in local time. Even so, an old install cannot come from a recent click. */
export const CLOCK_ERROR_MS = 24 * HOUR_MS;

const WINDOW_NAMES: Record<keyof Windows, string> = {
  clickMs: 'attribution',
  probabilisticMs: 'probabilistic',
  viewThroughMs: 'view-through',
};

function windowOf({ id }: Click, named: boolean): keyof Windows {
  if (isImpressionId(id)) return 'viewThroughMs';
  return named ? 'clickMs' : 'probabilisticMs';
}

/** A window includes its last millisecond. A click in the future comes from another isolate's clock and counts. */
export const outsideWindow: ClickFilter = {
  id: 'outside_window',
  refuses: (click, { named, windows, now }) => {
    const window = windowOf(click, named);
    if (now - click.clickedAt <= windows[window]) return null;
    return `it is older than the ${WINDOW_NAMES[window]} window of ${windows[window] / HOUR_MS} hours`;
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
