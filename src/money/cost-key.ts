import * as z from 'zod';
import { COST_DIMENSIONS, type CostDimension, normalised, ofDimensions, SEGMENT } from '#catalogue';
import { findStoredNames, type NamePath } from '#creatives';
import { costs, type Database } from '#db';
import { dayText, optionalText, requiredText } from '#http';
import { COUNTRY_CODE_FAULT, toCountryCode } from '#lib/input/country';
import { composed } from '#lib/input/name-forms';

/** A value of a dimension as devices have it; absent if the row does not state it. */
const stated = (name: CostDimension) =>
  optionalText(SEGMENT[name].maxCharacters)
    .refine(
      (value) => SEGMENT[name].form !== 'country' || value === undefined || toCountryCode(value) !== null,
      COUNTRY_CODE_FAULT,
    )
    .transform((value) => value && normalised(name, value));

/** The key of a row of costs: its day, the names that money was spent on, and the dimensions that it states. */
export const CostKey = z.object({
  date: dayText(),
  campaign: requiredText(255),
  adset: optionalText(255),
  creative: optionalText(255),
  ...ofDimensions(COST_DIMENSIONS, stated),
});
export type CostKey = z.infer<typeof CostKey>;

/** The columns of the key, in the order in which rows are listed. */
export const KEY_COLUMNS = [
  costs.day,
  costs.campaign,
  costs.adset,
  costs.creative,
  ...COST_DIMENSIONS.map((name) => costs[name]),
];

/** What identifies a stored row of an application. Without a connector, it was uploaded. */
export const ROW_COLUMNS = [...KEY_COLUMNS, costs.connectorId];

/** A key in the order of `KEY_COLUMNS`, where what is absent is empty text. */
export const keyOf = (key: CostKey): string[] => [
  ...[key.date, key.campaign, key.adset ?? '', key.creative ?? ''],
  ...COST_DIMENSIONS.map((name) => key[name] ?? ''),
];

const NAMES_AT = [1, 2, 3];

/** The keys under which an earlier release may have stored a row, whose names have two forms in Unicode. */
export const otherForms = (key: readonly string[]): string[][] => {
  const forms = [composed, (name: string) => name.normalize('NFD')].map((form) =>
    key.map((text, index) => (NAMES_AT.includes(index) ? form(text) : text)),
  );
  return forms.filter((one) => one.some((text, index) => text !== key[index]));
};

const namesIn = (key: readonly string[]): NamePath => [key[1] ?? '', key[2] ?? '', key[3] ?? ''];

/** Rows under the names that the application has for their names, whichever form of Unicode they are in, and else in the composed form. */
export async function toStoredForms<Row extends { key: readonly string[] }>(
  db: Database,
  applicationId: string,
  rows: readonly Row[],
): Promise<Row[]> {
  const toStored = await findStoredNames(
    db,
    applicationId,
    rows.map(({ key }) => namesIn(key)),
  );
  return rows.map((row) => ({
    ...row,
    key: [row.key[0], ...toStored(namesIn(row.key)), ...row.key.slice(4)],
  }));
}
