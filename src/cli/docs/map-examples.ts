import type * as z from 'zod';
import type { ColumnMap } from '../import/sources/mapped.ts';

// The maps that `docs/migrating.md` shows, with which the shelf of foreign files is imported.

type MapExample = { map: z.input<typeof ColumnMap>; note?: string };

export const MAP_EXAMPLES = {
  Singular: {
    map: {
      columns: {
        device_id: 'sdid',
        time: 'adjusted_timestamp',
        event: 'name',
        params: 'arguments',
        revenue: 'converted_revenue',
        currency: 'converted_currency',
        network: 'partner',
        campaign: 'campaign_name',
        adset: 'sub_campaign_name',
        creative: 'creative_name',
        country: 'country',
        os: 'platform',
        os_version: 'os_version',
        model: 'device_model',
        app_version: 'app_version',
      },
      events: { install: '__START__', session: '__SESSION__', ad: '__ADMON_USER_LEVEL_REVENUE__' },
    },
  },
  Branch: {
    map: {
      columns: {
        device_id: ['user_data_aaid', 'user_data_idfv'],
        time: 'timestamp',
        event: 'name',
        params: 'custom_data',
        revenue: 'event_data_revenue',
        currency: 'event_data_currency',
        transaction_id: 'event_data_transaction_id',
        network: 'last_attributed_touch_data_tilde_advertising_partner_name',
        campaign: 'last_attributed_touch_data_tilde_campaign',
        adset: 'last_attributed_touch_data_tilde_ad_set_name',
        creative: 'last_attributed_touch_data_tilde_ad_name',
        country: 'user_data_geo_country_code',
        os: 'user_data_os',
        os_version: 'user_data_os_version',
        model: 'user_data_model',
        app_version: 'user_data_app_version',
      },
      events: { install: 'INSTALL', session: 'OPEN', skip: ['CLICK', 'IMPRESSION'] },
    },
  },
  Kochava: {
    note: 'Days have the month first, and no column has the currency: write the one of your account.',
    map: {
      columns: {
        device_id: 'Device ID',
        time: 'Event Date',
        event: 'Event Name',
        revenue: 'Amount',
        network: 'Network Name',
        campaign: 'Campaign Name',
      },
      events: { install: 'install' },
      currency: 'USD',
      dates: 'month-first',
    },
  },
  Airbridge: {
    note: 'Networks are called channels, and days have the day first.',
    map: {
      columns: {
        device_id: 'Airbridge Device ID',
        time: 'Event Datetime',
        event: 'Event Category',
        revenue: 'In-app Purchases',
        currency: 'Currency',
        network: 'Channel',
        campaign: 'Campaign',
      },
      organic: ['unattributed'],
      dates: 'day-first',
    },
  },
  Tenjin: {
    note: 'From a query of DataVault: rows of `events` with the names of their campaigns and ad networks joined as `campaign` and `ad_network`. Take\n`price` with its `currency`: published models of these tables have `revenue` in US cents.',
    map: {
      columns: {
        device_id: ['advertising_id', 'developer_device_id'],
        time: 'created_at',
        installed_at: 'acquired_at',
        event: 'event',
        revenue: 'price',
        currency: 'currency',
        network: 'ad_network',
        campaign: 'campaign',
        creative: 'creative_name',
        country: 'country',
        os: 'platform',
        os_version: 'os_version',
        model: 'device',
        app_version: 'app_version',
      },
      events: { session: 'open' },
    },
  },
} as const satisfies Record<string, MapExample>;

export const exampleEntries: [service: string, example: MapExample][] = Object.entries(MAP_EXAMPLES);
