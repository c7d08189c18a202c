import { settingsOf } from '#env';
import type { Fault } from '#http';
import { duration, NOTHING } from '#lib/format';
import type { ApplicationRow } from '#teams';
import type { FormField } from '../../forms/field.tsx';
import { FormSection } from '../../forms/form-section.tsx';
import { SuggestedValues } from '../../forms/suggested-values.tsx';
import { DOUBT_FIELDS, doubtSummary } from './doubt-fields.ts';

const GENERAL: readonly FormField[] = [
  { label: 'Name', name: 'name', required: true },
  {
    label: 'Time zone',
    name: 'timezone',
    required: true,
    hint: 'Such as Europe/Berlin. A change applies only to later events: days so far stay as they are.',
    list: 'time-zones',
  },
  {
    label: 'Reporting currency',
    name: 'currency',
    required: true,
    hint: 'A currency code, such as USD',
    list: 'currencies',
  },
];

const DESTINATIONS: readonly FormField[] = [
  {
    label: 'Google Play URL',
    name: 'android_store_url',
    type: 'url',
    hint: 'https://play.google.com/store/apps/details?id=…',
  },
  {
    label: 'App Store URL',
    name: 'ios_store_url',
    type: 'url',
    hint: 'https://apps.apple.com/app/id…',
  },
  {
    label: 'Fallback URL',
    name: 'fallback_url',
    type: 'url',
    hint: 'For platforms without a store URL',
  },
];

const APP_LINKS: readonly FormField[] = [
  {
    label: 'Apple App ID prefix',
    name: 'apple_app_id_prefix',
    hint: 'Ten characters, in most cases the team ID, such as ABCDE12345',
  },
  { label: 'iOS bundle ID', name: 'apple_bundle_id', hint: 'Such as com.example.game' },
  {
    label: 'Android certificate fingerprints (SHA-256)',
    name: 'android_fingerprints',
    hint: 'Of Play App Signing, such as 91:D7:…; several separated by spaces',
  },
];

const setOrNot = (secret: string | null) => (secret === null ? 'Not set' : 'Set');

const attributionFields = (row: ApplicationRow): readonly FormField[] => [
  {
    label: 'Attribution window (hours after the click)',
    name: 'attribution_window_hours',
    subject: 'The attribution window',
    type: 'number',
    required: true,
  },
  {
    label: 'Probabilistic window (hours after the click)',
    name: 'probabilistic_window_hours',
    subject: 'The probabilistic window',
    type: 'number',
    required: true,
    hint: '0 turns probabilistic matching off.',
  },
  {
    label: 'View-through window (hours after the impression)',
    name: 'view_window_hours',
    subject: 'The view-through window',
    type: 'number',
    required: true,
    hint: '0 turns view-through attribution off.',
  },
  {
    label: 'Meta install referrer decryption key',
    name: 'meta_referrer_key',
    hint: `${setOrNot(row.metaReferrerKey)}. From the app’s settings at Meta: Basic → Android. Never shown; leave it empty to keep it.`,
  },
  {
    label: 'Ask Apple which ad led to an install',
    name: 'apple_ads',
    hint: 'For installs whose backend sends an AdServices token. Off: the token is ignored.',
    options: [
      ['off', 'Off'],
      ['on', 'On'],
    ],
  },
  {
    label: 'Create what networks name',
    name: 'create_from_networks',
    hint: 'The campaign, ad set and creative of an ad of Meta or Apple Ads that leads to an install, with their IDs. Off: such installs count for the network without a creative.',
    options: [
      ['off', 'Off'],
      ['on', 'On'],
    ],
  },
];

const revenueFields = (row: ApplicationRow): readonly FormField[] => [
  {
    label: 'Store fee (%)',
    name: 'store_fee_percent',
    subject: 'The store fee',
    hint: 'What stores keep of a payment, such as 15 or 30. Net figures are without it.',
  },
  {
    label: 'Service account of Google Play’s pushes',
    name: 'google_push_account',
    hint: 'The email that the Pub/Sub subscription authenticates with',
  },
  {
    label: 'Authorization value of RevenueCat',
    name: 'revenuecat_authorization',
    hint: `${setOrNot(row.revenuecatAuthorizationHash)}. Never shown; leave it empty to keep it.`,
  },
];

const PRIVACY: readonly FormField[] = [
  {
    label: 'Data collection',
    name: 'data_collection',
    hint: 'If off, new tokens and events are refused with 403 within 60 seconds.',
    options: [
      ['on', 'On'],
      ['off', 'Off'],
    ],
  },
  {
    label: 'Allowed web origins',
    name: 'allowed_origins',
    hint: 'Only for a web SDK: the origins of its pages, such as https://play.example.com, separated by spaces. The API key is then public.',
  },
];

/** What is set, by its name: `Google Play, App Store`. */
const listed = (...parts: readonly (readonly [text: string | undefined, name: string])[]): string => {
  const given = parts.filter(([text = '']) => text.trim() !== '').map(([, name]) => name);
  return given.length > 0 ? given.join(', ') : 'Not set';
};

function windowText(hours: string | undefined): string {
  const number = Number(hours);
  if (number === 0) return 'off';
  return Number.isFinite(number) ? duration(number * 3600) : NOTHING;
}

/** The parts of the form, in its order. */
function sectionsOf(env: Env, row: ApplicationRow, values: Record<string, string>) {
  const { RAW_RETENTION_DAYS, IDEMPOTENCY_DAYS, TOKEN_TTL_DAYS } = settingsOf(env);
  const isCollecting = values.data_collection === 'on';
  return [
    {
      title: 'General',
      id: 'general',
      says: `${values.timezone}, ${values.currency}`,
      fields: GENERAL,
    },
    {
      title: 'Tracking link destinations',
      id: 'stores',
      says: listed(
        [values.android_store_url, 'Google Play'],
        [values.ios_store_url, 'App Store'],
        [values.fallback_url, 'fallback'],
      ),
      fields: DESTINATIONS,
    },
    {
      title: 'Links that open the app',
      id: 'app-links',
      says: listed([values.apple_bundle_id, 'iOS'], [values.android_fingerprints, 'Android']),
      fields: APP_LINKS,
    },
    {
      title: 'Attribution',
      id: 'attribution',
      says: `Clicks ${windowText(values.attribution_window_hours)}, probabilistic ${windowText(values.probabilistic_window_hours)}, view-through ${windowText(values.view_window_hours)}`,
      fields: attributionFields(row),
    },
    {
      title: 'Revenue',
      id: 'revenue',
      says: `Store fee ${values.store_fee_percent || 0}%`,
      fields: revenueFields(row),
    },
    {
      title: 'Doubtful installs',
      id: 'doubts',
      says: doubtSummary(values),
      fields: DOUBT_FIELDS,
    },
    {
      title: 'Privacy and retention',
      id: 'privacy',
      says: `${isCollecting ? 'Collects data' : 'Collects no data'}, raw events ${RAW_RETENTION_DAYS} days`,
      fields: PRIVACY,
      note: `Raw events are kept for ${RAW_RETENTION_DAYS} days, the ids that tell repeated events for ${IDEMPOTENCY_DAYS} days, and device tokens work for ${TOKEN_TTL_DAYS} days. These are set for the whole deployment.`,
    },
  ];
}

/** The settings of an application, folded into sections. Everything that is typed is sent, whichever sections are open. */
export const ApplicationFields = ({
  env,
  row,
  values,
  faults,
}: {
  env: Env;
  row: ApplicationRow;
  values: Record<string, string>;
  faults: readonly Fault[];
}) => (
  <>
    {sectionsOf(env, row, values).map(({ note, ...section }, index) => (
      <FormSection {...section} values={values} faults={faults} open={index === 0}>
        {note && <p class="hint">{note}</p>}
      </FormSection>
    ))}
    <SuggestedValues />
  </>
);
