import {
  type ColumnTable,
  cellText,
  deviceOf,
  type ExportedEvent,
  type ExportRow,
  faultOfFigures,
  isAmount,
  isOrganicName,
  nameOf,
  ORGANIC,
  readerOf,
  type Source,
} from './exported.ts';

// Source: Adjust, "Placeholders". The columns of a CSV upload are the placeholders that its owner chose.

const COLUMNS = {
  activity: ['{activity_kind}'],
  device: ['{adid}'],
  time: ['{created_at}'],
  installed: ['{installed_at}'],
  event: ['{event_name}', '{event}'],
  revenue: ['{revenue_float}', '{ad_revenue_float}'],
  currency: ['{currency}'],
  reporting_revenue: ['{reporting_revenue}'],
  reporting_currency: ['{reporting_currency}'],
  dollars: ['{revenue_usd}'],
  network: ['{network_name}'],
  campaign: ['{campaign_name}'],
  adset: ['{adgroup_name}'],
  ad: ['{creative_name}'],
  tracker: ['{tracker_name}'],
  organic: ['{is_organic}'],
  ad_network: ['{ad_revenue_network}'],
  placement: ['{ad_revenue_placement}'],
  ad_unit: ['{ad_revenue_unit}'],
  impressions: ['{ad_impressions_count}'],
  transaction: ['{transaction_id}', '{order_id}', '{deduplication_id}'],
  country: ['{country}'],
  os: ['{os_name}'],
  os_version: ['{os_version}'],
  model: ['{device_name}', '{device_model}'],
  app_version: ['{app_version}', '{app_version_short}'],
} as const satisfies ColumnTable;

const keyOf = (heading: string) => heading.trim();
const valuesOf = readerOf(COLUMNS, keyOf);

const KINDS: Record<string, ExportedEvent['kind']> = {
  install: 'install',
  session: 'session',
  ad_revenue: 'ad',
};

/** `Network::Campaign::Ad group::Creative`, as far as each is known. */
const TRACKER_SEPARATOR = '::';

/** The columns of callback parameters are in square brackets: `[level]`. */
const paramsOf = (row: ExportRow) =>
  Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) => {
      const name = /^\[(.+)\]$/.exec(column)?.[1];
      return name && cellText(value) !== '' ? [[name, cellText(value)]] : [];
    }),
  );

/** Columns with amounts whose unit or currency differs between exports, or is not in the file. */
const UNCLEAR = ['{revenue}', '{ad_revenue}', '{revenue_usd_cents}', '{reporting_revenue_cents}'];

type Amount = { revenue: string; currency: string };

/** Why an amount is unclear, or the amount, which is empty if there is none. */
function amountIn(row: ExportRow): Amount | string {
  const first = valuesOf(row);
  const revenue = first('revenue');
  if (revenue) return { revenue, currency: first('currency') };
  const reported = first('reporting_revenue');
  if (isAmount(reported)) {
    const currency = first('reporting_currency');
    // `{currency}` is that of the event, and not what the amount was converted to.
    if (!currency)
      return 'revenue is in {reporting_revenue}, whose currency is unknown: export {reporting_currency}';
    return { revenue: reported, currency };
  }
  const dollars = first('dollars');
  if (isAmount(dollars)) return { revenue: dollars, currency: 'USD' };
  const unclear = UNCLEAR.find((column) => isAmount(cellText(row[column])));
  if (unclear) return `revenue is only in ${unclear}, whose unit is unknown: export {revenue_float}`;
  return { revenue: reported || dollars, currency: '' };
}

export const adjust: Source = {
  columns: COLUMNS,
  required: ['activity', 'device', 'time', 'installed'],
  keyOf,
  read(row) {
    const first = valuesOf(row);
    const activity = first('activity');
    const deviceId = first('device');
    const amount = amountIn(row);
    const isPaid = typeof amount === 'string' || isAmount(amount.revenue);
    const kind = KINDS[activity] ?? (activity !== 'event' ? null : isPaid ? 'purchase' : 'custom');
    if (!kind) {
      return { kind: 'other', refused: `{activity_kind} "${activity}" has no equivalent here` };
    }
    if (!deviceId) return { kind, refused: '{adid} is empty' };
    if (typeof amount === 'string') return { kind, refused: amount };
    const impressions = kind === 'ad' ? first('impressions') : '';
    const fault = faultOfFigures(kind, { ...amount, impressions });
    if (fault) return fault;
    const [network = '', campaign = '', adset = '', creative = ''] =
      first('tracker').split(TRACKER_SEPARATOR);
    const source = nameOf(first('network') || network);
    const acquired =
      first('organic') === '1' || isOrganicName(source)
        ? ORGANIC
        : {
            network: source,
            campaign: nameOf(first('campaign') || campaign),
            adset: nameOf(first('adset') || adset),
            creative: nameOf(first('ad') || creative),
          };
    return {
      kind,
      deviceId,
      ...amount,
      impressions,
      ...acquired,
      at: first('time'),
      installedAt: first('installed'),
      name: first('event'),
      adNetwork: first('ad_network'),
      placement: first('placement', 'ad_unit'),
      format: first('ad_unit'),
      transactionId: first('transaction'),
      params: paramsOf(row),
      ...deviceOf(first),
    };
  },
};
