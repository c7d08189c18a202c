import * as z from 'zod';
import { readObject } from '#lib/encoding/json-object';
import { placeholderId } from '#lib/input/placeholder';
import {
  cellText,
  deviceOf,
  type ExportedEvent,
  faultOfFigures,
  isAmount,
  isOrganicName,
  nameOf,
  ORGANIC,
  paramsIn,
  readerOf,
  type Source,
} from './exported.ts';

// The exports of services without a reader of their own, by a list of their columns.

/** What a column may hold, and what `docs/migrating.md` says of it. */
export const MAPPED_COLUMNS = {
  device_id: 'the id of the device; required',
  time: 'when it happened, or its day; required',
  installed_at: 'when the device was installed; `time` if there is none',
  event: 'the name of the event',
  revenue: 'an amount',
  currency: 'the code of its currency',
  network: 'the network of the device',
  campaign: 'its campaign',
  adset: 'its ad set',
  creative: 'its ad',
  transaction_id: 'the id of the purchase',
  ad_network: 'the network that paid for an ad',
  placement: 'the placement of an ad',
  format: 'the format of an ad',
  impressions: 'how many impressions the row stands for',
  params: 'the parameters, as JSON',
  country: 'an ISO 3166 code',
  os: 'the operating system',
  os_version: 'its version',
  model: 'the model of the device',
  app_version: 'the version of the app',
} as const;
type MappedColumn = keyof typeof MAPPED_COLUMNS;

const names = z.union([
  z
    .string()
    .min(1)
    .transform((name) => [name]),
  z.array(z.string().min(1)).min(1),
]);
const optionalNames = names.optional();

/** The JSON of `--map`. */
export const ColumnMap = z.strictObject({
  columns: z
    .strictObject(
      Object.fromEntries(Object.keys(MAPPED_COLUMNS).map((name) => [name, optionalNames])) as Record<
        MappedColumn,
        typeof optionalNames
      >,
    )
    .refine(({ device_id, time }) => device_id && time, 'needs device_id and time'),
  /** The names of events that are not custom events, in any case. */
  events: z
    .strictObject({ install: optionalNames, session: optionalNames, ad: optionalNames, skip: optionalNames })
    .default({}),
  /** Networks that mean that a device is organic, beside "Organic". */
  organic: optionalNames,
  /** Of amounts in a file without a column for it. */
  currency: z.string().length(3).optional(),
  /** What comes first in days such as 03/04/2026. */
  dates: z.enum(['day-first', 'month-first']).optional(),
});
export type ColumnMap = z.infer<typeof ColumnMap>;

/** Throws an error that says what is wrong with the text of a map. */
export function parseColumnMap(text: string): ColumnMap {
  const parsed = ColumnMap.safeParse(readObject(text.replace(/^\ufeff/, '')));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `The map is not valid: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}`,
  );
}

const SLASHED =
  /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4})(?:[ ,T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([ap]m)?)?$/i;

/** A time with the day or the month first, as one that is read without knowing which. Any other text as it is. */
function withYearFirst(text: string, dates: ColumnMap['dates']): string {
  const [, left = '', , right = '', year = '', hours = '0', minutes = '00', seconds = '00', half] =
    SLASHED.exec(text) ?? [];
  if (!dates || year === '') return text;
  const [month, day] = dates === 'month-first' ? [left, right] : [right, left];
  const hour = half ? (Number(hours) % 12) + (/^p/i.test(half) ? 12 : 0) : Number(hours);
  const two = (part: string | number) => String(part).padStart(2, '0');
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${minutes}:${seconds}`;
}

/** Reads the rows of an export by a map of its columns. */
export function mappedSource(map: ColumnMap): Source {
  const columns = Object.fromEntries(
    Object.entries(map.columns).flatMap(([name, own]) => (own ? [[name, own]] : [])),
  ) as Record<MappedColumn, string[]>;
  const keyOf = (heading: string) => heading.trim();
  const valuesOf = readerOf(columns, keyOf);
  const isOneOf = (list: readonly string[] | undefined, name: string) =>
    name !== '' && list?.some((one) => one.toLowerCase() === name.toLowerCase());
  const kindOf = (name: string, revenue: string, adNetwork: string): ExportedEvent['kind'] => {
    if (isOneOf(map.events.install, name)) return 'install';
    if (isOneOf(map.events.session, name)) return 'session';
    if (isOneOf(map.events.ad, name) || adNetwork !== '') return 'ad';
    return isAmount(revenue) ? 'purchase' : 'custom';
  };
  return {
    columns,
    required: Object.keys(columns),
    keyOf,
    read(row) {
      const first = valuesOf(row);
      const [name, revenue, adNetwork] = [first('event'), first('revenue'), first('ad_network')];
      const kind = kindOf(name, revenue, adNetwork);
      if (isOneOf(map.events.skip, name)) return { kind, repeated: `"${name}" is left out by the map` };
      // An advertising id of zeros is followed by the next column.
      const ids = columns.device_id.map((column) => cellText(row[keyOf(column)]));
      const deviceId = ids.find((id) => id !== '' && placeholderId(id) === null) ?? first('device_id');
      if (!deviceId) return { kind, refused: `${columns.device_id.join(', ')} is empty` };
      const currency = first('currency') || (map.currency ?? '');
      const impressions = kind === 'ad' ? first('impressions') : '';
      const fault = faultOfFigures(kind, { revenue, currency, impressions });
      if (fault) return fault;
      const network = nameOf(first('network'));
      const acquired =
        isOrganicName(network) || isOneOf(map.organic, network)
          ? ORGANIC
          : {
              network,
              campaign: nameOf(first('campaign')),
              adset: nameOf(first('adset')),
              creative: nameOf(first('creative')),
            };
      return {
        kind,
        deviceId,
        name,
        revenue,
        currency,
        adNetwork,
        impressions,
        ...acquired,
        at: withYearFirst(first('time'), map.dates),
        installedAt: withYearFirst(first('installed_at'), map.dates),
        transactionId: first('transaction_id'),
        params: paramsIn(cellText(first('params'))),
        placement: first('placement'),
        format: first('format'),
        ...deviceOf(first),
      };
    },
  };
}
