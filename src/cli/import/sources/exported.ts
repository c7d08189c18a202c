import { readDecimal } from '#lib/decimal';
import { readObject } from '#lib/encoding/json-object';
import { placeholderId, placeholderName } from '#lib/input/placeholder';

// What the exports of other attribution services have in common.

/** A row of an export, by column name. */
export type ExportRow = Readonly<Record<string, string>>;

export type RowKind = 'install' | 'session' | 'purchase' | 'ad' | 'custom' | 'other';

/** A row in our terms. Unknown values are empty text. */
export type ExportedEvent = {
  kind: Exclude<RowKind, 'other'>;
  deviceId: string;
  /** As in the export: local to the export's time zone, or epoch seconds. */
  at: string;
  installedAt: string;
  name: string;
  revenue: string;
  currency: string;
  /** Of an ad: the network that paid for it, its placement and format, and how many impressions the row stands for. */
  adNetwork: string;
  placement: string;
  format: string;
  impressions: string;
  transactionId: string;
  /** What the app sent with the event. */
  params: Readonly<Record<string, unknown>>;
  /** The network that the device was acquired from, as the export writes it. Empty if the export says that the device is organic, as are the names. */
  network: string;
  campaign: string;
  adset: string;
  creative: string;
  country: string;
  os: string;
  osVersion: string;
  model: string;
  appVersion: string;
};

/** A row that cannot be imported, and why. */
type RefusedRow = { kind: RowKind; refused: string };
/** A row that says again what another row says, and why. */
type RepeatedRow = { kind: RowKind; repeated: string };
type RowReading = ExportedEvent | RefusedRow | RepeatedRow;

/** The columns of an export by what they hold: the first one that has a value counts. */
export type ColumnTable = Readonly<Record<string, readonly string[]>>;

export type Source = {
  columns: ColumnTable;
  /** Keys of `columns` that a file must have. */
  required: readonly string[];
  /** Under which name a heading is looked up. */
  keyOf: (heading: string) => string;
  read: (row: ExportRow) => RowReading;
};

/** The text of a cell. Exports write `null` where there is no value. */
export const cellText = (cell: string | undefined): string => {
  const text = cell?.trim() ?? '';
  return /^(?:null|\\N)$/i.test(text) ? '' : text;
};

/** Reads the values of a row by what the columns hold. */
export const readerOf =
  <Table extends ColumnTable>(columns: Table, keyOf: (heading: string) => string) =>
  (row: ExportRow) =>
  (...fields: (keyof Table)[]): string =>
    fields
      .flatMap((field) => columns[field] ?? [])
      .map((column) => cellText(row[keyOf(column)]))
      .find(Boolean) ?? '';

/** Also of text that is not a number, so that it is refused as a purchase's. */
export const isAmount = (text: string) => text !== '' && Number(readDecimal(text) ?? Number.NaN) !== 0;

/** Exports have "None" or the like in place of a missing name. */
export const nameOf = (text: string) => (placeholderName(text) === null ? text : '');
export const isOrganicName = (text: string) => /^organic$/i.test(text);

export const ORGANIC = { network: '', campaign: '', adset: '', creative: '' };

type DeviceField = 'country' | 'os' | 'os_version' | 'model' | 'app_version';

/** What a row says of its device; the columns of every service have these fields. */
export const deviceOf = (first: (field: DeviceField) => string) => ({
  country: first('country'),
  os: first('os'),
  osVersion: first('os_version'),
  model: first('model'),
  appVersion: first('app_version'),
});

/** Why an amount cannot be imported; null if it can. */
function faultOfRevenue(kind: RowKind, revenue: string, currency: string): RefusedRow | null {
  if (revenue === '') return null;
  const amount = Number(readDecimal(revenue) ?? Number.NaN);
  if (!Number.isFinite(amount)) return { kind, refused: `revenue must be a number, not "${revenue}"` };
  if (amount < 0) return { kind, refused: `revenue is negative (${revenue}): refunds are not imported` };
  if (amount > 0 && currency === '') return { kind, refused: 'revenue has no currency' };
  return null;
}

const MAX_IMPRESSIONS = 100_000;

function faultOfImpressions(kind: RowKind, impressions: string): RefusedRow | null {
  const count = Number(impressions);
  if (impressions === '' || (Number.isInteger(count) && count >= 1 && count <= MAX_IMPRESSIONS)) return null;
  return { kind, refused: `impressions must be 1 to ${MAX_IMPRESSIONS}, not "${impressions}"` };
}

/** Why the figures of a row cannot be imported; null if they can. */
export const faultOfFigures = (
  kind: RowKind,
  { revenue, currency, impressions }: Pick<ExportedEvent, 'revenue' | 'currency' | 'impressions'>,
): RefusedRow | null => faultOfRevenue(kind, revenue, currency) ?? faultOfImpressions(kind, impressions);

/** Spreadsheets write long numbers as `1.23457E+17`, and lose their digits. */
const ROUNDED = /^\d(?:[.,]\d+)?E\+\d+$/i;

/** Why a row's ids cannot be imported; null if they can. */
export function faultOfIds({ kind, deviceId, transactionId }: ExportedEvent): RefusedRow | null {
  const reason = placeholderId(deviceId);
  // All devices with it would be one.
  if (reason !== null) return { kind, refused: `the device id "${deviceId}" ${reason}` };
  for (const [name, id] of [
    ['device', deviceId],
    ['transaction', transactionId],
  ]) {
    if (id === undefined || !ROUNDED.test(id)) continue;
    const advice = 'a spreadsheet has rounded it, so import the file as it was exported';
    return { kind, refused: `the ${name} id "${id}" has lost digits: ${advice}` };
  }
  return null;
}

export const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** The parameters of an event: a JSON object, without those that are null. Any other text is kept as `value`. */
export function paramsIn(values: string): Readonly<Record<string, unknown>> {
  if (values === '') return {};
  const params = readObject(values) ?? { value: values };
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
}
