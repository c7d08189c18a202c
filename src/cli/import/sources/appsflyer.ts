import {
  type ColumnTable,
  deviceOf,
  faultOfFigures,
  isAmount,
  isOrganicName,
  nameOf,
  ORGANIC,
  paramsIn,
  readerOf,
  type Source,
  textOf,
} from './exported.ts';

// Sources: AppsFlyer, "Raw-data field dictionary" and "Data Locker". Data Locker has the same columns with underscores in place of spaces
// (`Install Time` is `install_time`); those that it calls otherwise are listed.

const COLUMNS = {
  device: ['AppsFlyer ID'],
  installed: ['Install Time'],
  time: ['Event Time'],
  event: ['Event Name'],
  parameters: ['Event Value'],
  revenue: ['Event Revenue'],
  currency: ['Event Revenue Currency'],
  dollars: ['Event Revenue USD'],
  primary: ['Is Primary Attribution'],
  network: ['Media Source'],
  campaign: ['Campaign', 'c'],
  adset: ['Adset', 'af_adset'],
  ad: ['Ad', 'af_ad'],
  ad_network: ['Monetization Network'],
  placement: ['Placement'],
  ad_unit: ['Ad Unit'],
  ad_type: ['Ad Type', 'af_ad_type'],
  impressions: ['Impressions'],
  country: ['Country Code'],
  os: ['Platform'],
  os_version: ['OS Version'],
  model: ['Device Model', 'Device Type'],
  app_version: ['App Version'],
} as const satisfies ColumnTable;

const keyOf = (heading: string) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '_');
const valuesOf = readerOf(COLUMNS, keyOf);

const AD_REVENUE = 'af_ad_revenue';
const SECONDARY =
  'not the primary attribution: the row of the source with Is Primary Attribution true counts, which may be in the retargeting report';

export const appsflyer: Source = {
  columns: COLUMNS,
  required: ['device', 'installed', 'time', 'event'],
  keyOf,
  read(row) {
    const first = valuesOf(row);
    const name = first('event');
    const own = first('revenue');
    const revenue = own || first('dollars');
    const currency = own ? first('currency') : 'USD';
    const adNetwork = first('ad_network');
    const isAd = name === AD_REVENUE || adNetwork !== '';
    const kind = name === 'install' ? 'install' : isAd ? 'ad' : isAmount(revenue) ? 'purchase' : 'custom';
    // Within a re-engagement window, an event is reported for the acquisition, too.
    if (/^(?:false|0|no)$/i.test(first('primary'))) return { kind, repeated: SECONDARY };
    const deviceId = first('device');
    if (!deviceId) return { kind, refused: 'AppsFlyer ID is empty' };
    const impressions = isAd ? first('impressions') : '';
    const fault = faultOfFigures(kind, { revenue, currency, impressions });
    if (fault) return fault;
    const params = paramsIn(first('parameters'));
    const source = first('network');
    const campaign = nameOf(first('campaign'));
    const acquired =
      isOrganicName(source) || (nameOf(source) === '' && isOrganicName(campaign))
        ? ORGANIC
        : {
            network: nameOf(source),
            campaign: isOrganicName(campaign) ? '' : campaign,
            adset: nameOf(first('adset')),
            creative: nameOf(first('ad')),
          };
    return {
      kind,
      deviceId,
      name,
      revenue,
      currency,
      adNetwork,
      impressions,
      params,
      ...acquired,
      at: first('time'),
      installedAt: first('installed'),
      placement: first('placement', 'ad_unit'),
      format: first('ad_type', 'ad_unit'),
      transactionId: textOf(params.af_receipt_id) || textOf(params.af_order_id),
      ...deviceOf(first),
    };
  },
};
