import * as z from 'zod';
import { COST_DIMENSIONS, type CostDimension, normalised, ofDimensions, SEGMENT } from '#catalogue';
import { costs } from '#db';
import { dayText, optionalText, requiredText } from '#http';
import { COUNTRY_CODE_FAULT, toCountryCode } from '#lib/input/country';

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
