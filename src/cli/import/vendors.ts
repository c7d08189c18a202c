import { readDecimal } from '#lib/decimal';
import { readObject } from '#lib/encoding/json-object';
import { placeholderName } from '#lib/input/placeholder';

// The columns of other attribution services' raw exports. Sources: AppsFlyer, "Raw-data field dictionary"; Adjust, "Placeholders" (the
// columns of a CSV upload are the placeholders that its owner chose).

/** A row of an export, by column name. */
export type ExportRow = Readonly<Record<string, string>>;

type RowKind = 'install' | 'session' | 'purchase' | 'ad' | 'custom' | 'other';

/** A row in our terms. Unknown values are empty text. */
export type ExportedEvent = {
  kind: Exclude<RowKind, 'other'>;
  deviceId: string;
  /** As in the export: local to the export's time zone, or epoch seconds. */
  at: string;
  installedAt: string;
  name: string;
  revenue: string;
  currency: string;
  /** Of an ad: the network that paid for it, its placement and format, and how many impressions the row stands for. */
  adNetwork: string;
  placement: string;
  format: string;
  impressions: string;
  transactionId: string;
  /** What the app sent with the event. */
  params: Readonly<Record<string, unknown>>;
  /** The network that the device was acquired from. Empty if the export says that the device is organic, as are the names. */
  network: string;
  campaign: string;
  adset: string;
  creative: string;
  country: string;
  os: string;
  osVersion: string;
  model: string;
  appVersion: string;
};

/** A row that cannot be imported, and why. */
type RefusedRow = { kind: RowKind; refused: string };

type Vendor = {
  /** Columns that a file of this vendor must have. */
  required: readonly string[];
  read: (row: ExportRow) => ExportedEvent | RefusedRow;
};

const first = (row: ExportRow, ...names: string[]) =>
  names.map((name) => row[name]?.trim()).find(Boolean) ?? '';
/** Also of text that is not a number, so that it is refused as a purchase's. */
const isAmount = (text: string) => text !== '' && Number(readDecimal(text) ?? Number.NaN) !== 0;

/** Exports have "None" or the like in place of a missing name. */
const nameOf = (text: string) => (placeholderName(text) === null ? text : '');
const isOrganicName = (text: string) => /^organic$/i.test(text);

const ORGANIC = { network: '', campaign: '', adset: '', creative: '' };

/** Why an amount cannot be imported; null if it can. */
function faultOfRevenue(kind: RowKind, revenue: string, currency: string): RefusedRow | null {
  if (revenue === '') return null;
  const amount = Number(readDecimal(revenue) ?? Number.NaN);
  if (!Number.isFinite(amount)) return { kind, refused: `revenue must be a number, not "${revenue}"` };
  if (amount < 0) return { kind, refused: `revenue is negative (${revenue}): refunds are not imported` };
  if (amount > 0 && currency === '') return { kind, refused: 'revenue has no currency' };
  return null;
}

const MAX_IMPRESSIONS = 100_000;

function faultOfImpressions(kind: RowKind, impressions: string): RefusedRow | null {
  const count = Number(impressions);
  if (impressions === '' || (Number.isInteger(count) && count >= 1 && count <= MAX_IMPRESSIONS)) return null;
  return { kind, refused: `impressions must be 1 to ${MAX_IMPRESSIONS}, not "${impressions}"` };
}

const AD_REVENUE = 'af_ad_revenue';

const appsflyer: Vendor = {
  required: ['AppsFlyer ID', 'Install Time', 'Event Time', 'Event Name'],
  read(row) {
    const name = first(row, 'Event Name');
    const own = first(row, 'Event Revenue');
    const revenue = own || first(row, 'Event Revenue USD');
    const currency = own ? first(row, 'Event Revenue Currency') : 'USD';
    const adNetwork = first(row, 'Monetization Network');
    const isAd = name === AD_REVENUE || adNetwork !== '';
    const kind = name === 'install' ? 'install' : isAd ? 'ad' : isAmount(revenue) ? 'purchase' : 'custom';
    const deviceId = first(row, 'AppsFlyer ID');
    if (!deviceId) return { kind, refused: 'AppsFlyer ID is empty' };
    const impressions = isAd ? first(row, 'Impressions') : '';
    const fault = faultOfRevenue(kind, revenue, currency) ?? faultOfImpressions(kind, impressions);
    if (fault) return fault;
    const params = paramsIn(first(row, 'Event Value'));
    const source = first(row, 'Media Source');
    const campaign = nameOf(first(row, 'Campaign'));
    const acquired =
      isOrganicName(source) || (nameOf(source) === '' && isOrganicName(campaign))
        ? ORGANIC
        : {
            network: nameOf(source),
            campaign: isOrganicName(campaign) ? '' : campaign,
            adset: nameOf(first(row, 'Adset')),
            creative: nameOf(first(row, 'Ad')),
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
      at: first(row, 'Event Time'),
      installedAt: first(row, 'Install Time'),
      placement: first(row, 'Placement', 'Ad Unit'),
      format: first(row, 'Ad Type', 'Ad Unit'),
      transactionId: textOf(params.af_receipt_id) || textOf(params.af_order_id),
      country: first(row, 'Country Code'),
      os: first(row, 'Platform'),
      osVersion: first(row, 'OS Version'),
      model: first(row, 'Device Model', 'Device Type'),
      appVersion: first(row, 'App Version'),
    };
  },
};

export const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** The values of an in-app event: a JSON object. Any other text is kept as `value`. */
function paramsIn(values: string): Readonly<Record<string, unknown>> {
  return values === '' ? {} : (readObject(values) ?? { value: values });
}

const ADJUST_KINDS: Record<string, ExportedEvent['kind']> = {
  install: 'install',
  session: 'session',
  ad_revenue: 'ad',
};

/** `Network::Campaign::Ad group::Creative`, as far as each is known. */
const TRACKER_SEPARATOR = '::';

/** The columns of callback parameters are in square brackets: `[level]`. */
const adjustParams = (row: ExportRow) =>
  Object.fromEntries(
    Object.entries(row).flatMap(([column, value]) => {
      const name = /^\[(.+)\]$/.exec(column)?.[1];
      return name && value.trim() !== '' ? [[name, value.trim()]] : [];
    }),
  );

function adjustRevenue(row: ExportRow): { revenue: string; currency: string } {
  const revenue = first(row, '{revenue_float}', '{ad_revenue_float}');
  if (revenue) return { revenue, currency: first(row, '{currency}') };
  const reported = first(row, '{reporting_revenue}');
  return { revenue: reported, currency: reported && first(row, '{reporting_currency}', '{currency}') };
}

const adjust: Vendor = {
  required: ['{activity_kind}', '{adid}', '{created_at}', '{installed_at}'],
  read(row) {
    const activity = first(row, '{activity_kind}');
    const deviceId = first(row, '{adid}');
    const { revenue, currency } = adjustRevenue(row);
    const isPaid = isAmount(revenue || first(row, '{revenue}'));
    const kind = ADJUST_KINDS[activity] ?? (activity !== 'event' ? null : isPaid ? 'purchase' : 'custom');
    if (!kind) {
      return { kind: 'other', refused: `{activity_kind} "${activity}" has no equivalent here` };
    }
    if (!deviceId) return { kind, refused: '{adid} is empty' };
    if (revenue === '' && isPaid) {
      // Its unit differs between exports.
      return { kind, refused: 'revenue is only in {revenue}, whose unit is unknown: export {revenue_float}' };
    }
    const impressions = kind === 'ad' ? first(row, '{ad_impressions_count}') : '';
    const fault = faultOfRevenue(kind, revenue, currency) ?? faultOfImpressions(kind, impressions);
    if (fault) return fault;
    const [network = '', campaign = '', adset = '', creative = ''] = first(row, '{tracker_name}').split(
      TRACKER_SEPARATOR,
    );
    const source = nameOf(first(row, '{network_name}') || network);
    const acquired =
      first(row, '{is_organic}') === '1' || isOrganicName(source)
        ? ORGANIC
        : {
            network: source,
            campaign: nameOf(first(row, '{campaign_name}') || campaign),
            adset: nameOf(first(row, '{adgroup_name}') || adset),
            creative: nameOf(first(row, '{creative_name}') || creative),
          };
    return {
      kind,
      deviceId,
      revenue,
      currency,
      impressions,
      ...acquired,
      at: first(row, '{created_at}'),
      installedAt: first(row, '{installed_at}'),
      name: first(row, '{event_name}', '{event}'),
      adNetwork: first(row, '{ad_revenue_network}'),
      placement: first(row, '{ad_revenue_placement}', '{ad_revenue_unit}'),
      format: first(row, '{ad_revenue_unit}'),
      transactionId: first(row, '{transaction_id}', '{order_id}', '{deduplication_id}'),
      params: adjustParams(row),
      country: first(row, '{country}'),
      os: first(row, '{os_name}'),
      osVersion: first(row, '{os_version}'),
      model: first(row, '{device_name}', '{device_model}'),
      appVersion: first(row, '{app_version}', '{app_version_short}'),
    };
  },
};

export const VENDORS = { appsflyer, adjust } as const satisfies Record<string, Vendor>;
export type VendorName = keyof typeof VENDORS;
export const isVendor = (name: string): name is VendorName => Object.hasOwn(VENDORS, name);
