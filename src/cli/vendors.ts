// The columns of other attribution services' raw exports. Sources: AppsFlyer, "Raw-data field dictionary"; Adjust, "Placeholders" (the
// columns of a CSV upload are the placeholders that its owner chose).

/** A row of an export, by column name. */
export type Row = Readonly<Record<string, string>>;

/** A row in our terms. Unknown values are empty text. */
export type ExportedEvent = {
  kind: 'install' | 'session' | 'purchase' | 'ad' | 'custom';
  deviceId: string;
  /** `YYYY-MM-DD HH:MM:SS` in UTC, or epoch seconds. */
  at: string;
  installedAt: string;
  name: string;
  revenue: string;
  currency: string;
  network: string;
  placement: string;
  format: string;
  transactionId: string;
  campaign: string;
  adset: string;
  creative: string;
  country: string;
  os: string;
  osVersion: string;
  model: string;
  appVersion: string;
  timezone: string;
};

type Vendor = {
  /** Columns that a file of this vendor must have. */
  required: readonly string[];
  read: (row: Row) => ExportedEvent | null;
};

const first = (row: Row, ...names: string[]) => names.map((name) => row[name]?.trim()).find(Boolean) ?? '';
const isAbove0 = (amount: string) => Number(amount) > 0;

/** Exports have "None" or "organic" in place of a missing campaign. */
const campaignOf = (text: string) => (/^(?:none|organic|null|n\/a)$/i.test(text) ? '' : text);

const appsflyer: Vendor = {
  required: ['AppsFlyer ID', 'Install Time', 'Event Time', 'Event Name'],
  read(row) {
    const deviceId = first(row, 'AppsFlyer ID');
    if (!deviceId) return null;
    const name = first(row, 'Event Name');
    const revenue = first(row, 'Event Revenue');
    const network = first(row, 'Monetization Network');
    const kind = name === 'install' ? 'install' : network ? 'ad' : isAbove0(revenue) ? 'purchase' : 'custom';
    return {
      kind,
      deviceId,
      name,
      revenue,
      network,
      at: first(row, 'Event Time'),
      installedAt: first(row, 'Install Time'),
      currency: first(row, 'Event Revenue Currency'),
      placement: first(row, 'Placement', 'Ad Unit'),
      format: first(row, 'Ad Type', 'Ad Unit'),
      transactionId: transactionIn(first(row, 'Event Value')),
      campaign: campaignOf(first(row, 'Campaign')),
      adset: first(row, 'Adset'),
      creative: first(row, 'Ad'),
      country: first(row, 'Country Code'),
      os: first(row, 'Platform'),
      osVersion: first(row, 'OS Version'),
      model: first(row, 'Device Model', 'Device Type'),
      appVersion: first(row, 'App Version'),
      timezone: '',
    };
  },
};

/** The receipt's id, if the app sent it with the event's values. */
function transactionIn(values: string): string {
  try {
    const parsed: Record<string, unknown> = JSON.parse(values);
    const id = parsed.af_receipt_id ?? parsed.af_order_id;
    return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
  } catch {
    return '';
  }
}

const ADJUST_KINDS: Record<string, ExportedEvent['kind']> = {
  install: 'install',
  session: 'session',
  ad_revenue: 'ad',
};

const adjust: Vendor = {
  required: ['{activity_kind}', '{adid}', '{created_at}', '{installed_at}'],
  read(row) {
    const activity = first(row, '{activity_kind}');
    const deviceId = first(row, '{adid}');
    const kind =
      ADJUST_KINDS[activity] ??
      (activity === 'event'
        ? isAbove0(first(row, '{revenue_float}', '{revenue}'))
          ? 'purchase'
          : 'custom'
        : null);
    if (!deviceId || !kind) return null;
    return {
      kind,
      deviceId,
      at: first(row, '{created_at}'),
      installedAt: first(row, '{installed_at}'),
      name: first(row, '{event_name}', '{event}'),
      revenue: first(row, '{revenue_float}', '{revenue}', '{ad_revenue_float}'),
      currency: first(row, '{currency}'),
      network: first(row, '{ad_revenue_network}'),
      placement: first(row, '{ad_revenue_placement}', '{ad_revenue_unit}'),
      format: first(row, '{ad_revenue_unit}'),
      transactionId: first(row, '{transaction_id}', '{order_id}', '{deduplication_id}'),
      campaign: campaignOf(first(row, '{campaign_name}')),
      adset: first(row, '{adgroup_name}'),
      creative: first(row, '{creative_name}'),
      country: first(row, '{country}'),
      os: first(row, '{os_name}'),
      osVersion: first(row, '{os_version}'),
      model: first(row, '{device_name}', '{device_model}'),
      appVersion: first(row, '{app_version}', '{app_version_short}'),
      timezone: '',
    };
  },
};

export const VENDORS = { appsflyer, adjust } as const satisfies Record<string, Vendor>;
export type VendorName = keyof typeof VENDORS;
export const isVendor = (name: string): name is VendorName => Object.hasOwn(VENDORS, name);
