import { database } from '#db';
import { settingsOf } from '#env';
import type { Fault } from '#http';
import { isolate } from '#lib/input/isolate';
import { type ApplicationRow, listIntakeSecrets, listKeysInGrace } from '#teams';
import { Field } from '../../forms/field.tsx';
import type { Submitted } from '../../forms/form.ts';
import { takeShown } from '../../forms/show-once.ts';
import { Copyable } from '../../shell/copyable.tsx';
import { timeText } from '../../shell/dates.ts';
import { isAdmin } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card } from '../../shell/parts.tsx';
import { ApplicationFields } from './application-form.tsx';
import { toFormFaults, toValues } from './application-values.ts';
import { ImpressionsCard } from './impression-callbacks.tsx';
import { renderSettings } from './settings-page.tsx';

const GRACES = [
  ['0', 'Stops working now'],
  ['1', 'Works for 1 more hour'],
  ['24', 'Works for 24 more hours'],
  ['72', 'Works for 72 more hours'],
] as const;

export const pathOf = ({ id }: Pick<ApplicationRow, 'id'>) => `/settings/applications/${id}`;

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
        <Action to={`${pathOf(row)}/key#key`} label="Show the API key" kind="quiet" />
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
      Stores post payments, renewals and refunds to addresses with a secret, and mediation platforms call one
      for each impression, by the same secret. The secret is shown only once. Google Play’s notifications have
      no amounts: of them only refunds count, so its payments and renewals have to come from your backend or
      from RevenueCat.
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
      <button type="submit" class="quiet">
        Create a secret
      </button>
    </form>
  </Card>
);

/** Deletion requires typing the name, so that a single click cannot delete an application. */
const DeleteCard = ({ row, faults }: { row: ApplicationRow; faults: readonly Fault[] }) => (
  <Card title="Delete application" id="delete">
    <p class="muted">
      Deletes {row.name} with its creatives, devices, events, costs and reports. Its API keys and tracking
      links stop working within 60 seconds. This cannot be undone.
    </p>
    <form
      method="post"
      action={`${pathOf(row)}/delete#delete`}
      class="row"
      data-confirm={`Delete ${isolate(row.name)} with all its data?`}
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

/** The settings of one application, with its API key if this request may show it. No two of its forms have a field in common. */
export async function applicationPage(c: DashboardContext, row: ApplicationRow, submitted: Submitted) {
  const values = { ...toValues(row), ...submitted.values };
  const faults = toFormFaults(submitted.faults ?? []);
  const mayChange = isAdmin(c);
  const { apiKey, intakeSecret } = await takeShown(c, pathOf(row));
  const { origin } = new URL(c.req.url);
  const secrets = await listIntakeSecrets(database(c.env.DB), row, Date.now());
  const grace = await listKeysInGrace(database(c.env.DB), row, Date.now());
  const fields = (
    <fieldset disabled={!mayChange} class="sections">
      <ApplicationFields env={c.env} row={row} values={values} faults={faults} />
      {mayChange && <button type="submit">Save</button>}
    </fieldset>
  );
  return renderSettings(
    c,
    { title: row.name },
    <>
      <Card title="Settings" aside={<code class="muted">{row.id}</code>}>
        {mayChange ? (
          <form method="post" action={pathOf(row)} novalidate>
            {fields}
          </form>
        ) : (
          fields
        )}
      </Card>
      {mayChange && (
        <KeyCard
          row={row}
          grace={grace.flatMap(({ expiresAt }) => expiresAt ?? [])}
          apiKey={apiKey}
          header={`${settingsOf(c.env).SERVICE_NAME}-api-key`}
        />
      )}
      {mayChange && (
        <>
          <StoresCard row={row} secret={intakeSecret} origin={origin} secrets={secrets} />
          <ImpressionsCard
            row={row}
            to={`${pathOf(row)}/impression-template#impression-callbacks`}
            secret={intakeSecret}
            origin={origin}
            submitted={submitted}
          />
        </>
      )}
      <p>
        <a href={`/get-started?app=${row.id}`}>Get started: send the first event</a>
      </p>
      {mayChange && <DeleteCard row={row} faults={faults} />}
    </>,
  );
}
