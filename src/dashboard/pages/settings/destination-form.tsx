import { type DestinationRow, kindOf } from '#destinations';
import type { Fault } from '#http';
import { NETWORKS } from '#networks';
import type { FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import type { Submitted } from '../../forms/form.ts';

/** Fields with several lines, or with long ones. */
const LONG = new Set(['headers', 'body', 'event_names']);
const isLong = (kind: string, field: string) => LONG.has(field) || (kind === 'postback' && field === 'url');
const METHODS = ['GET', 'POST', 'PUT'].map((method) => [method, method] as const);
const FILTERS = [
  ['network', 'Network', 'Of devices that this network brought, such as meta'],
  ['country', 'Country', 'Two-letter code, such as DE'],
  ['os', 'OS', 'ios or android'],
  ['campaign_id', 'Campaign', 'Its id, cmp_…'],
] as const;

const EVENTS: readonly FormField[] = [
  {
    label: 'Events',
    name: 'events',
    hint: 'Any of install, purchase, ad, retention, refund and custom:<name>, separated by commas',
    required: true,
  },
];
const FILTER_FIELDS: readonly FormField[] = [
  ...FILTERS.map(([name, label, hint]) => ({ label, name: `filter.${name}`, hint, maxlength: 64 })),
  {
    label: 'Devices',
    name: 'filter.paid_only',
    options: [
      ['', 'All'],
      ['yes', 'Of ads alone'],
    ],
  },
];

/** The names of a form's fields are the paths of their faults. */
const nameOf = (place: 'settings' | 'credentials', field: string) =>
  place === 'settings' && field === 'url' ? 'url' : `${place}.${field}`;

const fieldsOf = (kind: string, place: 'settings' | 'credentials') => Object.keys(kindOf(kind)[place].shape);

/** What a form starts with: those of a destination, of a network's preset, or of its kind. */
export function valuesOf(
  kind: string,
  { destination, preset }: { destination?: DestinationRow | undefined; preset?: string | undefined },
): Record<string, string> {
  if (destination) {
    const settings = Object.entries(destination.settings).map(([name, text]) => [
      nameOf('settings', name),
      text,
    ]);
    const { filter, events } = destination;
    const filters = FILTERS.map(([name]) => [`filter.${name}`, filter[name] ?? '']);
    const paid = ['filter.paid_only', filter.paid_only ? 'yes' : ''];
    return Object.fromEntries([...settings, ...filters, paid, ['events', events.join(', ')]]);
  }
  const network = NETWORKS.find(({ id }) => id === preset);
  const found = network?.postback;
  const filter = { 'filter.network': found?.ofOwnDevices ? (network?.id ?? '') : '' };
  if (kind === 'postback' && found) {
    return { ...filter, 'settings.method': found.method, url: found.url, events: found.events.join(', ') };
  }
  return kind === 'postback'
    ? { 'settings.method': 'GET', events: 'install' }
    : { events: 'install, purchase' };
}

/** A submitted form as the body of `POST /v1/destinations`, without the application. Empty credentials stay as they are. */
export function toDestination(kind: string, values: Readonly<Record<string, string>>) {
  const taken = (place: 'settings' | 'credentials') =>
    Object.fromEntries(fieldsOf(kind, place).map((field) => [field, values[nameOf(place, field)] ?? '']));
  const credentials = Object.entries(taken('credentials')).filter(([, text]) => text !== '');
  const filters = FILTERS.flatMap(([name]) => {
    const text = values[`filter.${name}`]?.trim() ?? '';
    return text === '' ? [] : [[name, text]];
  });
  return {
    settings: taken('settings'),
    ...(credentials.length > 0 ? { credentials: Object.fromEntries(credentials) } : {}),
    events: (values.events ?? '')
      .split(',')
      .map((event) => event.trim())
      .filter((event) => event !== ''),
    filter: { ...Object.fromEntries(filters), ...(values['filter.paid_only'] ? { paid_only: true } : {}) },
  };
}

/** `events.0` is a fault of the field `events`. */
const toFieldFaults = (faults: readonly Fault[]): Fault[] =>
  faults.map(({ path, message }) => ({ path: path.replace(/^events\.\d+$/, 'events'), message }));

/** The fields of a destination. `isNew`: credentials have none to keep. */
export const DestinationFields = ({
  kind,
  isNew,
  values = {},
  ...submitted
}: Submitted & { kind: string; isNew: boolean }) => {
  const { labels } = kindOf(kind);
  const faults = toFieldFaults(submitted.faults ?? []);
  return (
    <>
      <Fields fields={EVENTS} values={values} faults={faults} />
      <Fields
        fields={fieldsOf(kind, 'settings').map((field) => ({
          label: labels[field] ?? field,
          name: nameOf('settings', field),
          ...(isLong(kind, field) ? { isLong: true } : { maxlength: 2048 }),
          ...(field === 'method' ? { options: METHODS } : {}),
        }))}
        values={values}
        faults={faults}
      />
      <Fields
        fields={fieldsOf(kind, 'credentials').map((field) => ({
          label: labels[field] ?? field,
          name: nameOf('credentials', field),
          type: 'password',
          autocomplete: 'new-password',
          hint: isNew ? 'Stored encrypted, and never shown again' : 'Leave it empty to keep it',
          maxlength: 2048,
        }))}
        faults={faults}
      />
      <details class="fold" open={FILTERS.some(([name]) => values[`filter.${name}`])}>
        <summary>Only some of them</summary>
        <Fields fields={FILTER_FIELDS} values={values} faults={faults} />
      </details>
    </>
  );
};
