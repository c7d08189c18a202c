// The columns of raw exports with all fields, in their published order, and files of them.

const APPSFLYER =
  `Attributed Touch Type,Attributed Touch Time,Install Time,Event Time,Event Name,Event Value,Event Revenue,Event Revenue Currency,Event Revenue USD,Event Source,Is Receipt Validated,Partner,Media Source,Channel,Keywords,Campaign,Campaign ID,Adset,Adset ID,Ad,Ad ID,Ad Type,Site ID,Sub Site ID,Sub Param 1,Sub Param 2,Sub Param 3,Sub Param 4,Sub Param 5,Cost Model,Cost Value,Cost Currency,Contributor 1 Partner,Contributor 1 Media Source,Contributor 1 Campaign,Contributor 1 Touch Type,Contributor 1 Touch Time,Contributor 2 Partner,Contributor 2 Media Source,Contributor 2 Campaign,Contributor 2 Touch Type,Contributor 2 Touch Time,Contributor 3 Partner,Contributor 3 Media Source,Contributor 3 Campaign,Contributor 3 Touch Type,Contributor 3 Touch Time,Region,Country Code,State,City,Postal Code,DMA,IP,WIFI,Operator,Carrier,Language,AppsFlyer ID,Advertising ID,IDFA,Android ID,Customer User ID,IMEI,IDFV,Platform,Device Type,OS Version,App Version,SDK Version,App ID,App Name,Bundle ID,Is Retargeting,Retargeting Conversion Type,Attribution Lookback,Reengagement Window,Is Primary Attribution,User Agent,HTTP Referrer,Original URL`.split(
    ',',
  );
/** Of the ad revenue report only. */
const AD_REVENUE = [
  'Monetization Network',
  'Mediation Network',
  'Ad Unit',
  'Placement',
  'Segment',
  'Impressions',
];

const ADJUST =
  `activity_kind,adid,created_at,installed_at,timezone,environment,app_id,app_name,app_name_dashboard,app_version,app_version_short,app_token,store,sdk_version,idfa,idfv,android_id,gps_adid,mac_md5,os_name,os_version,api_level,device_name,device_type,device_manufacturer,language,country,country_subdivision,city,postal_code,ip_address,isp,user_agent,event,event_name,revenue,revenue_float,revenue_usd,revenue_usd_cents,currency,reporting_revenue,reporting_currency,transaction_id,order_id,deduplication_id,time_spent,last_time_spent,session_count,lifetime_session_count,click_time,impression_time,engagement_time,engagement_type,reattributed_at,reinstalled_at,uninstalled_at,conversion_duration,match_type,rejection_reason,is_organic,tracker,tracker_name,first_tracker,first_tracker_name,network_name,campaign_name,adgroup_name,creative_name,cost_type,cost_amount,cost_currency,reporting_cost,partner_parameters,publisher_parameters,ad_mediation_platform,ad_revenue_network,ad_revenue_unit,ad_revenue_placement,ad_impressions_count,att_status`
    .split(',')
    .map((name) => `{${name}}`);
const CALLBACKS = ['[level]', '[mode]'];

const cellOf = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

export type Cells = Record<string, string>;

const fileOf = (columns: readonly string[], common: Cells, rows: readonly Cells[]) =>
  [columns, ...rows.map((row) => columns.map((name) => row[name] ?? common[name] ?? ''))]
    .map((cells) => cells.map(cellOf).join(','))
    .join('\n');

/** An export with every column, from the cells that matter. */
export const appsflyerFile = (rows: readonly Cells[]) =>
  fileOf(
    [...APPSFLYER, ...AD_REVENUE],
    {
      'Install Time': '2026-03-01 10:00:00',
      'AppsFlyer ID': 'af-1',
      'Media Source': 'googleadwords_int',
      Campaign: 'Launch',
      Adset: 'Broad',
      Ad: 'Castle',
      'Country Code': 'DE',
      Platform: 'android',
      'OS Version': '16',
      'Device Type': 'Pixel 9',
      'App Version': '1.2',
      'User Agent': 'Mozilla/5.0 (Test, "Fixture")',
    },
    rows,
  );

/** The same for Adjust. */
export const adjustFile = (rows: readonly Cells[]) =>
  fileOf(
    [...ADJUST, ...CALLBACKS],
    {
      '{activity_kind}': 'event',
      '{adid}': 'ad-1',
      '{created_at}': '1772445600',
      '{installed_at}': '1772359200',
      '{network_name}': 'unity',
      '{campaign_name}': 'Launch',
      '{adgroup_name}': 'Broad',
      '{country}': 'de',
      '{os_name}': 'ios',
      '{os_version}': '18.1',
    },
    rows,
  );

export const COLUMN_COUNTS = { appsflyer: APPSFLYER.length, adjust: ADJUST.length };
