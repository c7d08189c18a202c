import { database } from '#db';
import { settingsOf } from '#env';
import type { Fault } from '#http';
import { atLeast } from '#members';
import { type ApplicationRow, listIntakeSecrets, listKeysInGrace } from '#teams';
import type { Submitted } from '../../forms/form.ts';
import { takeShown } from '../../forms/show-once.ts';
import { SuggestedValues } from '../../forms/suggested-values.tsx';
import { Copyable } from '../../shell/copyable.tsx';
import { timeText } from '../../shell/dates.ts';
import type { DashboardContext } from '../../shell/guard.ts';
import { Action, Card, Field } from '../../shell/parts.tsx';
import { renderSettings } from '../../shell/settings.tsx';
import { DoubtFields, doubtValues } from './doubt-fields.tsx';

const GRACES = [
  ['0', 'Stops working now'],
  ['1', 'Works for 1 more hour'],
  ['24', 'Works for 24 more hours'],
  ['72', 'Works for 72 more hours'],
] as const;

/** The text of the form's fields. */
export type Values = Record<string, string>;

export const pathOf = ({ id }: Pick<ApplicationRow, 'id'>) => `/settings/applications/${id}`;

const toValues = (row: ApplicationRow): Values => ({
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
  view_through_window_hours: String(row.viewThroughWindowHours),
  ...doubtValues(row),
  google_push_account: row.googlePushAccount ?? '',
  store_fee_percent: String(row.storeFeeBasisPoints / 100),
});

const KeyCard = ({
  row,
  grace,
  apiKey,
  header,
}: {
  row: ApplicationRow;
  grace: number[];
  apiKey: string | undefined;
  header: string;
}) => (
  <Card title="API key" id="key">
    {apiKey === undefined ? (
      <>
        <p class="muted">
          Your backend sends it with every request, in the header <code>{header}</code>. Keep it in a secrets
          manager, never in the app itself. Showing it is recorded in the audit log.
        </p>
        <Action to={`${pathOf(row)}/key#key`} label="Show the API key" />
      </>
    ) : (
      <Copyable text={apiKey} label="API key" />
    )}
    {grace.map((until) => (
      <p>
        An earlier key works until {timeText(until, row.timezone)} ({row.timezone}).
      </p>
    ))}
    <h3>Replace the key</h3>
    <form
      method="post"
      action={`${pathOf(row)}/new-key#key`}
      class="row"
      data-confirm="Create a new API key?"
    >
      <Field label="The current key" name="grace_hours" value="24" options={GRACES} />
      <button type="submit" class="danger">
        Regenerate
      </button>
    </form>
  </Card>
);

const STORE_PATHS = [
  ['App Store', 'apple'],
  ['Google Play', 'google'],
  ['RevenueCat', 'revenuecat'],
] as const;

const StoresCard = ({
  row,
  secret,
  origin,
  secrets,
}: {
  row: ApplicationRow;
  secret: string | undefined;
  origin: string;
  secrets: { createdAt: number; expiresAt: number | null }[];
}) => (
  <Card title="Store notifications" id="store-notifications">
    <p class="muted">
      Stores post payments, renewals and refunds to addresses with a secret. It is shown only once.
    </p>
    {secret !== undefined &&
      STORE_PATHS.map(([label, store]) => (
        <Copyable text={`${origin}/stores/${store}/${secret}`} label={label} />
      ))}
    {secrets.map(({ createdAt, expiresAt }) => (
      <p>
        {expiresAt === null
          ? `The current secret was created ${timeText(createdAt, row.timezone)}.`
          : `An earlier secret works until ${timeText(expiresAt, row.timezone)}.`}
      </p>
    ))}
    <form method="post" action={`${pathOf(row)}/intake-secret#store-notifications`} class="row">
      <Field label="The current secret" name="grace_hours" value="72" options={GRACES} />
      <button type="submit">Create a secret</button>
    </form>
  </Card>
);

/** Deletion requires typing the name, so that a single click cannot delete an application. */
const DeleteCard = ({ row, faults }: { row: ApplicationRow; faults: Fault[] }) => (
  <Card title="Delete application" id="delete">
    <p class="muted">
      Deletes {row.name} with its creatives, devices, events, costs and reports. Its API keys and tracking
      links stop working within 60 seconds. This cannot be undone.
    </p>
    <form
      method="post"
      action={`${pathOf(row)}/delete#delete`}
      class="row"
      data-confirm={`Delete ${row.name} with all its data?`}
    >
      <Field
        label="Application name"
        name="delete_name"
        faults={faults}
        hint={`Type ${row.name} to confirm`}
        maxlength={255}
        required
      />
      <button type="submit" class="danger">
        Delete application
      </button>
    </form>
  </Card>
);

/** The settings of one application, with its API key if this request may show it. */
export async function applicationPage(c: DashboardContext, row: ApplicationRow, submitted: Submitted = {}) {
  const { person } = c.var;
  const { values = toValues(row), faults = [] } = submitted;
  const mayChange = atLeast(person.role, 'admin');
  const { apiKey, intakeSecret } = await takeShown(c, pathOf(row));
  const secrets = await listIntakeSecrets(database(c.env.DB), row, Date.now());
  const grace = await listKeysInGrace(database(c.env.DB), row, Date.now());
  const text = (
    label: string,
    name: string,
    more: { hint?: string; subject?: string; type?: string; list?: string; required?: boolean } = {},
  ) => <Field label={label} name={name} value={values[name] ?? ''} faults={faults} {...more} />;
  const fields = (
    <fieldset disabled={!mayChange}>
      {text('Name', 'name', { required: true })}
      <div class="field check">
        <input
          type="checkbox"
          id="field-data_collection"
          name="data_collection"
          checked={values.data_collection === 'on'}
        />
        <label for="field-data_collection">Collect data</label>
        <p class="hint">If off, new tokens and events are refused with 403 within 60 seconds.</p>
      </div>
      {text('Time zone', 'timezone', {
        required: true,
        hint: 'Such as Europe/Berlin. A change applies only to later events.',
        list: 'time-zones',
      })}
      {text('Reporting currency', 'currency', {
        required: true,
        hint: 'A currency code, such as USD',
        list: 'currencies',
      })}
      <h3 id="stores">Tracking link destinations</h3>
      {text('Google Play URL', 'android_store_url', {
        type: 'url',
        hint: 'https://play.google.com/store/apps/details?id=…',
      })}
      {text('App Store URL', 'ios_store_url', { type: 'url', hint: 'https://apps.apple.com/app/id…' })}
      {text('Fallback URL', 'fallback_url', {
        type: 'url',
        hint: 'For platforms without a store URL',
      })}
      {text('Allowed web origins', 'allowed_origins', {
        hint: 'Only for a web SDK: the origins of its pages, such as https://play.example.com, separated by spaces. The API key is then public.',
      })}
      <h3 id="app-links">Links that open the app</h3>
      {text('Apple App ID prefix', 'apple_app_id_prefix', {
        hint: 'Ten characters, in most cases the team ID, such as ABCDE12345',
      })}
      {text('iOS bundle ID', 'apple_bundle_id', { hint: 'Such as com.example.game' })}
      {text('Android certificate fingerprints (SHA-256)', 'android_fingerprints', {
        hint: 'Of Play App Signing, such as 91:D7:…; several separated by spaces',
      })}
      <h3>Attribution</h3>
      {text('Attribution window (hours after the click)', 'attribution_window_hours', {
        subject: 'The attribution window',
        type: 'number',
        required: true,
      })}
      {text('Probabilistic window (hours after the click)', 'probabilistic_window_hours', {
        subject: 'The probabilistic window',
        type: 'number',
        required: true,
        hint: '0 turns probabilistic matching off.',
      })}
      {text('View-through window (hours after the impression)', 'view_through_window_hours', {
        subject: 'The view-through window',
        type: 'number',
        required: true,
        hint: '0 turns view-through attribution off.',
      })}
      {text('Meta install referrer decryption key', 'meta_referrer_key', {
        hint: `${row.metaReferrerKey === null ? 'Not set' : 'Set'}. From the app’s settings at Meta: Basic → Android. Never shown; leave it empty to keep it.`,
      })}
      <h3>Stores</h3>
      {text('Service account of Google Play’s pushes', 'google_push_account', {
        hint: 'The email that the Pub/Sub subscription authenticates with',
      })}
      {text('Authorization value of RevenueCat', 'revenuecat_authorization', {
        hint: `${row.revenuecatAuthorizationHash === null ? 'Not set' : 'Set'}. Never shown; leave it empty to keep it.`,
      })}
      {text('Store fee (%)', 'store_fee_percent', {
        subject: 'The store fee',
        hint: 'What stores keep of a payment, such as 15 or 30. Net figures are without it.',
      })}
      <DoubtFields values={values} faults={faults} />
      <SuggestedValues />
      {mayChange && <button type="submit">Save</button>}
    </fieldset>
  );
  return renderSettings(
    c,
    { title: row.name, status: faults.length > 0 ? 400 : 200 },
    <>
      {mayChange && (
        <KeyCard
          row={row}
          grace={grace.flatMap(({ expiresAt }) => expiresAt ?? [])}
          apiKey={apiKey}
          header={`${settingsOf(c.env).SERVICE_NAME}-api-key`}
        />
      )}
      {mayChange && (
        <StoresCard row={row} secret={intakeSecret} origin={new URL(c.req.url).origin} secrets={secrets} />
      )}
      <Card title="Settings" aside={<code class="muted">{row.id}</code>}>
        {mayChange ? (
          <form method="post" action={pathOf(row)}>
            {fields}
          </form>
        ) : (
          fields
        )}
      </Card>
      <p>
        <a href={`/get-started?app=${row.id}`}>Get started: send the first event</a>
      </p>
      {mayChange && <DeleteCard row={row} faults={faults} />}
    </>,
  );
}
