import { AppError, describeFaults, invalidRequest } from '#http';
import { NOTHING } from '#lib/format';
import {
  exampleAddress,
  IMPRESSION_PRESETS,
  type ImpressionPreset,
  impressionAddress,
  presetOf,
} from '#networks';
import { type ApplicationRow, ImpressionTemplateChoice, OwnImpressionTemplate } from '#teams';
import type { FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import { checkForm, type Submitted } from '../../forms/form.ts';
import { Copyable } from '../../shell/copyable.tsx';
import { Action, Card } from '../../shell/parts.tsx';
import { Table } from '../../tables/table.tsx';

// The template by which an application reads the callbacks of its mediation platform: a preset, or one of its own.

/** The choice of the form's own fields. */
const OWN_TEMPLATE = 'own';

/** Fields of the application have the same names. */
const PREFIX = 'impression_template.';

const SCALES = [
  ['unit', 'Of the impression'],
  ['micros', 'Of the impression, in millionths'],
  ['ecpm', 'Of a thousand impressions (eCPM)'],
] as const;

const DEVICE_NAMES = [
  ['device_id', 'The device_id that your backend sends to /fetch-token'],
  ['token', 'The device token'],
  ['click_id', 'The id of the click that brought the device'],
] as const;

const FIELDS: readonly FormField[] = [
  {
    label: 'Parameter of the impression’s id',
    name: 'id',
    required: true,
    hint: 'A callback that is repeated with the same id counts once.',
  },
  { label: 'Parameter of the amount', name: 'amount', required: true },
  { label: 'What the amount is of', name: 'scale', options: SCALES },
  { label: 'Parameter of the currency', name: 'currency' },
  {
    label: 'Currency without that parameter',
    name: 'default_currency',
    hint: 'A currency code, such as USD',
    list: 'currencies',
    maxlength: 3,
  },
  { label: 'Parameter of the device', name: 'device' },
  { label: 'What that parameter has', name: 'device_is', options: DEVICE_NAMES },
  { label: 'Parameter of the network', name: 'network' },
  { label: 'Parameter of the placement', name: 'placement' },
  { label: 'Parameter of the ad format', name: 'ad_format' },
  { label: 'Parameter of the country', name: 'country', hint: 'Two letters, such as DE' },
  {
    label: 'Parameter of the time',
    name: 'time',
    hint: 'In seconds or milliseconds since 1970, or ISO 8601. Without it, impressions are dated when they arrive.',
  },
].map((field) => ({ ...field, name: PREFIX + field.name }));

const DEFAULTS: Record<string, string> = { scale: 'unit', default_currency: 'USD', device_is: 'device_id' };

/** The text of the form's fields. */
function ownValues({ impressionTemplate: template }: ApplicationRow): Record<string, string> {
  const known: Record<string, string | null> =
    template === null || presetOf(template) !== null ? DEFAULTS : template;
  return Object.fromEntries(
    Object.entries(known).map(([name, value]) => [
      PREFIX + name,
      name === 'default_currency' ? (value ?? '').toUpperCase() : (value ?? ''),
    ]),
  );
}

/** The template that was submitted, null for none. Throws `invalid_request`, without fields for a preset that does not exist. */
export function readTemplateForm(values: Record<string, string>) {
  const { template = '' } = values;
  if (template !== OWN_TEMPLATE) {
    const chosen = checkForm(ImpressionTemplateChoice, template === '' ? null : { preset: template });
    if (chosen.faults) throw new AppError('invalid_request', describeFaults(chosen.faults));
    return chosen.data;
  }
  // An empty field names no parameter.
  const typed = Object.entries(values).flatMap(([name, text]) =>
    name.startsWith(PREFIX) && text.trim() !== '' ? [[name.slice(PREFIX.length), text.trim()] as const] : [],
  );
  const own = checkForm(OwnImpressionTemplate, Object.fromEntries(typed));
  if (!own.faults) return own.data;
  throw invalidRequest(own.faults.map(({ path, message }) => ({ path: PREFIX + path, message })));
}

type Choice = { name: string; label: string; address: string; unverified: readonly string[] };

function choicesOf({ impressionTemplate: own }: ApplicationRow, origin: string, secret: string): Choice[] {
  const presets = Object.entries<ImpressionPreset>(IMPRESSION_PRESETS).map(([name, preset]) => ({
    ...{ name, label: preset.label, unverified: preset.unverified },
    address: impressionAddress(origin, secret, preset),
  }));
  if (own === null || presetOf(own) !== null) return presets;
  const address = exampleAddress(origin, secret, own);
  return [...presets, { name: OWN_TEMPLATE, label: 'Own template', address, unverified: [] }];
}

/** What reads the callbacks now: the name of a preset, `own`, or null. */
const chosenIn = ({ impressionTemplate: template }: ApplicationRow): string | null =>
  template === null ? null : (presetOf(template) ?? OWN_TEMPLATE);

/** `to`: where its forms lead. `secret`: the intake secret, while it is shown. */
export const ImpressionsCard = ({
  row,
  to,
  secret,
  origin,
  submitted: { values, faults = [] },
}: {
  row: ApplicationRow;
  to: string;
  secret: string | undefined;
  origin: string;
  submitted: Submitted;
}) => {
  const chosen = chosenIn(row);
  const choices = choicesOf(row, origin, secret ?? '<secret>');
  return (
    <Card title="Impression callbacks" id="impression-callbacks">
      <p class="muted">
        A mediation platform calls an address for each impression, so that the app need not send it. A
        template says which parameter of the address has what. An impression counts once: do not send it as an
        event, too.
      </p>
      <Table
        caption="Templates of impression callbacks"
        rows={choices}
        columns={[
          { label: 'Template', cell: ({ label }) => label },
          { label: 'In use', cell: ({ name }) => (name === chosen ? 'Yes' : NOTHING) },
        ]}
        actions={({ name, label }) =>
          name === chosen ? (
            <Action
              to={to}
              label={`Remove ${label}`}
              kind="danger"
              confirm={`Remove ${label}? Callbacks are then refused.`}
              fields={{ template: '' }}
            />
          ) : (
            <Action
              to={to}
              label={`Use ${label}`}
              kind="quiet"
              fields={{ template: name }}
              {...(chosen === OWN_TEMPLATE ? { confirm: `Use ${label} and delete your own template?` } : {})}
            />
          )
        }
      />
      <details class="fold" open={secret !== undefined && chosen !== null}>
        <summary>Addresses for impression callbacks</summary>
        {choices.map(({ label, address, unverified }) => (
          <>
            <h3>{label}</h3>
            <Copyable text={address} label={`address for ${label}`} />
            {unverified.map((text) => (
              <p class="hint">Not verified: {text}</p>
            ))}
          </>
        ))}
        <p class="hint">
          {secret === undefined && 'The secret is shown when you create one, above. '}
          In the address of your own template, replace what is in braces by the platform’s macros.
        </p>
      </details>
      <details class="fold" open={faults.some(({ path }) => path.startsWith(PREFIX))}>
        <summary>{chosen === OWN_TEMPLATE ? 'Edit your own template' : 'Add your own template'}</summary>
        <form method="post" action={to} class="stack" novalidate>
          <input type="hidden" name="template" value={OWN_TEMPLATE} />
          <Fields fields={FIELDS} values={{ ...ownValues(row), ...values }} faults={faults} />
          <button type="submit">Save the template</button>
        </form>
      </details>
    </Card>
  );
};
