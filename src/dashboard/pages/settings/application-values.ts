import type { Fault } from '#http';
import type { ApplicationRow } from '#teams';
import { doubtValues, toDoubts } from './doubt-fields.ts';

/** The text of the form's fields. */
export type Values = Record<string, string>;

export const toValues = (row: ApplicationRow): Values => ({
  name: row.name,
  timezone: row.timezone,
  currency: row.currency.toUpperCase(),
  data_collection: row.dataCollection ? 'on' : 'off',
  ios_store_url: row.iosStoreUrl ?? '',
  android_store_url: row.androidStoreUrl ?? '',
  fallback_url: row.fallbackUrl ?? '',
  allowed_origins: row.allowedOrigins.join(' '),
  apple_app_id_prefix: row.appleAppIdPrefix ?? '',
  apple_bundle_id: row.appleBundleId ?? '',
  android_fingerprints: row.androidFingerprints.join(' '),
  attribution_window_hours: String(row.attributionWindowHours),
  probabilistic_window_hours: String(row.probabilisticWindowHours),
  view_window_hours: String(row.viewWindowHours),
  ...doubtValues(row),
  apple_ads: row.appleAds ? 'on' : 'off',
  create_from_networks: row.createFromNetworks ? 'on' : 'off',
  google_push_account: row.googlePushAccount ?? '',
  store_fee_percent: String(row.storeFeeBasisPoints / 100),
});

/** Text in percent as a share, which may be NaN. Absent text is absent. */
const percentToShare = (percent: string | undefined) =>
  percent === undefined ? undefined : Math.round(Number(percent) * 100) / 10_000;

/** Converts the form's text to the team API's schema. Settings that are not in the form are left unchanged. */
export function toChanges(values: Values) {
  const isOn = (text: string | undefined) => (text === undefined ? undefined : text === 'on');
  const optional = (text: string | undefined) => text?.trim() || null;
  const listOf = (text: string | undefined) => text?.split(/[\s,]+/).filter((item) => item !== '');
  return {
    name: values.name,
    timezone: values.timezone,
    currency: values.currency,
    data_collection: values.data_collection === 'on',
    ios_store_url: optional(values.ios_store_url),
    android_store_url: optional(values.android_store_url),
    fallback_url: optional(values.fallback_url),
    allowed_origins: listOf(values.allowed_origins),
    apple_app_id_prefix: optional(values.apple_app_id_prefix),
    apple_bundle_id: optional(values.apple_bundle_id),
    android_fingerprints: listOf(values.android_fingerprints),
    // These are never shown, so an empty field leaves them as they are.
    meta_referrer_key: values.meta_referrer_key?.trim() || undefined,
    revenuecat_authorization: values.revenuecat_authorization?.trim() || undefined,
    apple_ads: isOn(values.apple_ads),
    create_from_networks: isOn(values.create_from_networks),
    google_push_account: optional(values.google_push_account),
    store_fee: percentToShare(values.store_fee_percent),
    attribution_window_hours: Number(values.attribution_window_hours),
    probabilistic_window_hours: Number(values.probabilistic_window_hours),
    view_window_hours: Number(values.view_window_hours),
    fraud_rules: toDoubts(values),
  };
}

/** The settings that the form has under another name, and what is wrong if they are refused. */
const RENAMED: Readonly<Record<string, Fault>> = {
  store_fee: {
    path: 'store_fee_percent',
    message: 'must be a number from 0 to 99, such as 15, with at most two decimals',
  },
};

/** The team API's faults, about the form's fields. */
export const toFormFaults = (faults: readonly Fault[]): Fault[] =>
  faults.map((fault) => RENAMED[fault.path] ?? fault);
