import * as z from 'zod';
import { per, type Sums } from '#catalogue';
import { currencyCode } from '#http';
import { amountField, fromNanos } from '#lib/money';
import type { CubeStores } from '#rollup';
import type { Ads } from './answers.ts';
import { type DeviceGrouping, deviceGroupBy } from './device-groups.ts';
import { OTHER, otherColumns, shownOf } from './dimensions.ts';
import { readGroupSums } from './engine/group-sums.ts';
import { emptySums } from './engine/group-table.ts';
import { keyValues, REST } from './engine/question.ts';
import { unconvertedField, unconvertedOf } from './engine/unrated.ts';
import { checkPeriod, filtersOf, listing, period, type Reported } from './query.ts';

export const AdsQuery = z
  .object({ ...period, group_by: deviceGroupBy, currency: currencyCode().optional(), ...listing })
  .superRefine(checkPeriod);
export type AdsQuery = z.infer<typeof AdsQuery>;

/** The parts of a row's key before the network. */
const formatNames = (group: DeviceGrouping | undefined) =>
  ['day', 'source', ...(group ? [group] : [])] as const;

type AnsweredRow = Ads['data'][number];
type RowKey = Pick<AnsweredRow, 'day' | 'source' | 'media_source'>;
/** `unconverted` is what `revenue` lacks. */
type AdSums = Pick<Sums, 'impressions' | 'adRequests' | 'adRevenue' | 'unconverted'>;

/**
 * The ad report: revenue, impressions and eCPM by day, ad format and network. Ad requests have no network. They are in the format's
 * row without a network, together with the fill rate of the whole format.
 */
export async function reportAds(stores: CubeStores, application: Reported, query: AdsQuery) {
  const { from, to, group_by: group, currency: reporting = application.currency } = query;
  const names = formatNames(group);
  const asked = { from, to, reporting, filters: filtersOf(query) };
  const { groups, cut, total } = await readGroupSums(stores, application, {
    ...{ ...asked, limit: query.limit, q: query.q },
    names: [...names, 'media_source'],
    keepsRequests: true,
  });
  const rest: AdSums = groups.get(REST) ?? emptySums();
  groups.delete(REST);
  // The impressions of a format include those of networks without a row.
  const whole = { ...asked, names, limit: Number.POSITIVE_INFINITY };
  const { groups: formats } = await readGroupSums(stores, application, whole);
  const data = [...groups]
    .map(([key, shown]) => rowOf(keyValues(key), shown, { formats, group }))
    .sort(byNames(group));
  return {
    data: cut && rest.impressions + rest.adRequests > 0 ? [...data, restRow(rest, group)] : data,
    total_rows: cut?.total ?? data.length,
    totals: {
      ...figuresOf(total),
      ad_requests: total.adRequests,
      fill_rate: per(total.impressions, total.adRequests),
    },
    currency: reporting,
    timezone: application.timezone,
    unconverted: unconvertedOf(total.unconverted),
  };
}

function figuresOf({ impressions, adRevenue, unconverted }: AdSums) {
  return {
    impressions,
    ...amountField('ad_revenue', adRevenue),
    ecpm: per(fromNanos(adRevenue * 1000n), impressions),
    ...unconvertedField(unconverted),
  };
}

function rowOf(
  values: readonly (string | null)[],
  shown: AdSums,
  { formats, group }: { formats: ReadonlyMap<string, AdSums>; group: DeviceGrouping | undefined },
): AnsweredRow {
  const names = formatNames(group);
  const isFormat = (values[names.length] ?? null) === null;
  const impressions = formats.get(JSON.stringify(values.slice(0, names.length)))?.impressions ?? 0;
  return {
    ...(shownOf(values, [...names, 'media_source']) as RowKey),
    ...figuresOf(shown),
    ad_requests: isFormat ? shown.adRequests : null,
    fill_rate: isFormat ? per(impressions, shown.adRequests) : null,
  };
}

const restRow = (rest: AdSums, group: DeviceGrouping | undefined): AnsweredRow => ({
  day: OTHER,
  source: OTHER,
  ...(group ? otherColumns(group) : {}),
  media_source: OTHER,
  is_other: true,
  ...figuresOf(rest),
  ad_requests: rest.adRequests,
  fill_rate: null,
});

const byNames = (group: DeviceGrouping | undefined) => (left: AnsweredRow, right: AnsweredRow) => {
  for (const name of [...formatNames(group), 'media_source'] as const) {
    const [before, after] = [left[name] ?? '', right[name] ?? ''];
    if (before !== after) return before < after ? -1 : 1;
  }
  return 0;
};
