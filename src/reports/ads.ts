import * as z from 'zod';
import { per, type Sums } from '#catalogue';
import { currencyCode } from '#http';
import { amountField, fromNanos } from '#lib/money';
import type { CubeStores } from '#rollup';
import type { Ads } from './answers.ts';
import { type DeviceGrouping, deviceGroupBy } from './device-groups.ts';
import { type NamedColumns, OTHER, otherColumns, REPORT_DIMENSIONS } from './dimensions.ts';
import { readGroupSums } from './engine/group-sums.ts';
import { emptySums } from './engine/group-table.ts';
import { type Cut, keyValues, REST } from './engine/question.ts';
import { type Unconverted, unconvertedField, unconvertedOf } from './engine/unrated.ts';
import { checkPeriod, filtersOf, listing, period, type Reported, type ReportFilters } from './query.ts';

export const AdsQuery = z
  .object({ ...period, group_by: deviceGroupBy, currency: currencyCode().optional(), ...listing })
  .superRefine(checkPeriod);
export type AdsQuery = z.infer<typeof AdsQuery>;

/** The parts of a row's key before the network. */
const formatNames = (group: DeviceGrouping | undefined) =>
  ['day', 'source', ...(group ? [group] : [])] as const;

type AnsweredRow = Ads['data'][number];
/** `unconverted` is what `revenue` lacks. */
type AdSums = Pick<Sums, 'impressions' | 'adRequests' | 'adRevenue' | 'unconverted'>;

/**
 * The ad report: revenue, impressions and eCPM by day, ad format and network. Ad requests have no network. They are in the format's
 * row without a network, together with the fill rate of the whole format.
 */
export async function reportAds(stores: CubeStores, application: Reported, query: AdsQuery) {
  const reporting = query.currency ?? application.currency;
  const filters = filtersOf(query);
  const { group_by: group } = query;
  const { networks, formats, rest, cut, unconverted } = await readNetworks(stores, application, {
    ...query,
    reporting,
    filters,
  });
  const data = [...networks]
    .map(([key, shown]) => rowOf(keyValues(key), shown, { formats, group }))
    .sort(byNames(group));
  const total_rows = cut?.total ?? data.length;
  return {
    data: cut && rest.impressions + rest.adRequests > 0 ? [...data, restRow(rest, group)] : data,
    total_rows,
    currency: reporting,
    timezone: application.timezone,
    unconverted,
  };
}

type AdsRequest = AdsQuery & { reporting: string; filters: ReportFilters };
type Networks = {
  /** By row key. */
  networks: Map<string, AdSums>;
  /** Impressions by day and format, including those of networks without a row. */
  formats: Map<string, number>;
  rest: AdSums;
  cut: Cut | null;
  unconverted: Unconverted;
};

async function readNetworks(stores: CubeStores, application: Reported, asked: AdsRequest): Promise<Networks> {
  const { groups, cut, total } = await readGroupSums(stores, application, {
    ...asked,
    names: [...formatNames(asked.group_by), 'media_source'],
    keepsRequests: true,
  });
  const networks = new Map<string, AdSums>(groups);
  const rest = networks.get(REST) ?? emptySums();
  networks.delete(REST);
  const formats = new Map<string, number>();
  const names = formatNames(asked.group_by);
  const whole = { names, from: asked.from, to: asked.to, reporting: asked.reporting, filters: asked.filters };
  const byFormat = await readGroupSums(stores, application, { ...whole, limit: Number.POSITIVE_INFINITY });
  for (const [key, { impressions }] of byFormat.groups) formats.set(key, impressions);
  return { networks, formats, rest, cut, unconverted: unconvertedOf(total.unconverted) };
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
  { formats, group }: { formats: ReadonlyMap<string, number>; group: DeviceGrouping | undefined },
): AnsweredRow {
  const names = formatNames(group);
  const [day, source = null] = values;
  const media_source = values[names.length] ?? null;
  const isFormat = media_source === null;
  const impressions = formats.get(JSON.stringify(values.slice(0, names.length))) ?? 0;
  return {
    day: day ?? '',
    source,
    ...groupColumns(group, values),
    media_source,
    ...figuresOf(shown),
    ad_requests: isFormat ? shown.adRequests : null,
    fill_rate: isFormat ? per(impressions, shown.adRequests) : null,
  };
}

const groupColumns = (group: DeviceGrouping | undefined, values: readonly (string | null)[]): NamedColumns =>
  group ? REPORT_DIMENSIONS[group].show(values[formatNames(group).indexOf(group)] ?? null) : {};

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
