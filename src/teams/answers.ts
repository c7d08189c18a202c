import * as z from 'zod';
import { DOUBT_ACTIONS } from '#catalogue';
import { nullableText, time } from '#http/answers';

export const Application = z
  .object({
    id: z.string(),
    name: z.string(),
    timezone: z.string().meta({ description: 'IANA name. Reports use the days of this time zone.' }),
    currency: z.string().meta({ description: 'The reporting currency, lower-case ISO 4217.' }),
    data_collection: z.boolean(),
    ios_store_url: nullableText(),
    android_store_url: nullableText(),
    fallback_url: nullableText(),
    allowed_origins: z.array(z.string()).meta({
      description: 'The origins of web pages that may call the ingestion endpoints from a browser.',
    }),
    apple_app_id_prefix: nullableText().meta({
      description:
        "Apple's App ID prefix, in most cases the team ID. With `apple_bundle_id`, `app_link`s open the app on iOS.",
    }),
    apple_bundle_id: nullableText(),
    android_fingerprints: z.array(z.string()).meta({
      description:
        'SHA-256 fingerprints of the certificates that sign the Android app. With `android_store_url`, `app_link`s open the app on Android.',
    }),
    attribution_window_hours: z.int(),
    probabilistic_window_hours: z.int(),
    view_window_hours: z.int().meta({
      description: 'How long an impression may lead to an install. 0 turns view-through attribution off.',
    }),
    fraud_rules: z
      .record(z.string(), z.object({ action: z.enum(DOUBT_ACTIONS), threshold: z.number().nullable() }))
      .meta({
        description:
          'What happens to installs that each rule doubts. `flag`: they count as before, and as `doubted_installs`. `exclude`: they count as organic. `allow`: the rule is not asked.',
      }),
    impression_template: z.record(z.string(), z.string().nullable()).nullable().meta({
      description:
        'Where the amount, the id and the rest are in the callbacks of a mediation platform: names of query parameters. See `GET /impression/{secret}`.',
    }),
    meta_referrer_key_set: z.boolean().meta({
      description:
        'Whether `meta_referrer_key` is set: the install referrer decryption key of the app at Meta. It is never shown.',
    }),
    apple_ads: z.boolean().meta({
      description:
        'Whether Apple is asked which ad led to an install whose `/fetch-token` has an `adservices_token`. Off by default.',
    }),
    create_from_networks: z.boolean().meta({
      description:
        'Whether the campaign, ad set and creative of an ad that Meta or Apple Ads names are created with its first install, with their ids. Off by default.',
    }),
    google_push_account: nullableText().meta({
      description: 'The email of the service account that signs the pushes of Google Play’s notifications.',
    }),
    revenuecat_authorization_set: z.boolean().meta({
      description:
        'Whether `revenuecat_authorization` is set: the Authorization value that RevenueCat sends. It is never shown.',
    }),
    store_fee: z.number().meta({
      description: 'The share of a payment that stores keep, such as 0.15. Net metrics are without it.',
    }),
    created_at: time(),
  })
  .meta({ id: 'Application' });
export type Application = z.input<typeof Application>;

export const CreatedApplication = z.object({ ...Application.shape, api_key: z.string() });

export const IntakeSecret = z.object({ intake_secret: z.string() });

export const ApiKey = z.object({ api_key: z.string() });
