import { isSegmentDimension, ofDimensions, SEGMENT, SEGMENT_DIMENSIONS, valueName } from '#catalogue';
import { findNames } from '#creatives';
import { database, type InventoryLevel } from '#db';
import { FILTER_NAMES, type FilterName, filterValues, type View } from './view.ts';

export const FILTER_LABELS: Readonly<Record<FilterName, string>> = {
  campaign_id: 'Campaign',
  adset_id: 'Ad set',
  creative_id: 'Creative',
  ...ofDimensions(SEGMENT_DIMENSIONS, (name) => SEGMENT[name].label),
  attribution: 'Devices',
};

/** The filters whose values have a name besides their id. */
export const NAMED_KINDS: Readonly<Partial<Record<FilterName, InventoryLevel>>> = {
  campaign_id: 'campaign',
  adset_id: 'adset',
  creative_id: 'creative',
};

/** The label of a filter's value, if it is known without a lookup. */
export function valueLabel(name: FilterName, value: string): string {
  if (name === 'attribution') return { paid: 'Paid', organic: 'Organic' }[value] ?? 'All, blended';
  return isSegmentDimension(name) ? valueName(name, value) : value;
}

export type Chip = { name: FilterName; value: string; label: string };

/** The view's filters with the names of their values. An id without a name is shown as it is. */
export async function readChips(db: D1Database, view: View): Promise<Chip[]> {
  const chips = await Promise.all(
    FILTER_NAMES.map(async (name) => {
      const values = filterValues(view.filters, name);
      const kind = NAMED_KINDS[name];
      const names =
        kind && values.length > 0 ? await findNames(database(db), view.application.id, kind, values) : null;
      return values.map((value) => ({
        name,
        value,
        label: names?.get(value)?.name ?? valueLabel(name, value),
      }));
    }),
  );
  return chips.flat();
}
