import type { Fault } from '#http';
import { type ApplicationRow, showApplication } from '#teams';
import { doubtValues, toDoubts } from './doubt-fields.ts';

function textOf(setting: unknown): string {
  if (typeof setting === 'boolean') return setting ? 'on' : 'off';
  return Array.isArray(setting) ? setting.join(' ') : String(setting ?? '');
}

/** What the fields have of an application, whose settings have the same names in the team API. */
export const toValues = (row: ApplicationRow): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(showApplication(row)).map(([name, it]) => [name, textOf(it)])),
  currency: row.currency.toUpperCase(),
  ...doubtValues(row),
  store_fee_percent: String(row.storeFeeBasisPoints / 100),
});

/** Text in percent as a share, which may be NaN. Absent text is absent. */
const percentToShare = (percent: string | undefined) =>
  percent === undefined ? undefined : Math.round(Number(percent) * 100) / 10_000;

/** Converts the form's text to the team API's schema. Settings that are not in the form are left unchanged. */
export function toChanges(values: Record<string, string>) {
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
