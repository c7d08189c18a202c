import type * as z from 'zod';
import { countryFilter, repeatable, requiredText } from '#lib/input/fields';
import { normalised, ofDimensions, SEGMENT, SEGMENT_DIMENSIONS, type SegmentDimension } from './segments.ts';

const FORMS = {
  country: () => countryFilter(),
  word: (max) => requiredText(max).toLowerCase(),
  network: (max) => requiredText(max).transform((value) => normalised('network', value)),
  name: () => requiredText(128),
} satisfies Record<(typeof SEGMENT)[SegmentDimension]['form'], (max: number) => z.ZodType<string, string>>;

/**
 * The fields of a query that filter by segment, each a list of values. `unknown` are devices without a value, `other` those beyond the limit of
 * distinct segments. A function, because isolates that only receive events need no schemas of queries.
 */
export const segmentFilters = () =>
  ofDimensions(SEGMENT_DIMENSIONS, (name) =>
    repeatable(FORMS[SEGMENT[name].form](SEGMENT[name].maxCharacters)),
  );

/** The filter value for devices and clicks whose value is unknown. */
export const UNKNOWN_VALUE = 'unknown';

/** A filter's value as segments and devices have it: empty text for unknown. */
export const storedValue = (value: string): string => (value === UNKNOWN_VALUE ? '' : value);
