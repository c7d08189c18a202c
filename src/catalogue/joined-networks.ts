import { composed, nameForms } from '#lib/input/name-forms';
import { knownNetwork, storedSpellings } from '#networks';
import type { DimensionName } from './dimensions.ts';

// Networks have many names, and what is stored has the one that was sent. Reports join them where they group and filter, so that history is in the
// same row as what comes now.

/** A dimension's stored value as reports group by it. */
export const groupedAs = (dimension: DimensionName, stored: string): string =>
  (dimension === 'network' || dimension === 'media_source') && stored !== ''
    ? (knownNetwork(stored) ?? composed(stored))
    : stored;

/** Names of networks are in either form of Unicode, as they were sent. */
const storedForms = (dimension: DimensionName, value: string): string[] =>
  dimension === 'network' || dimension === 'media_source' ? nameForms(value) : [value];

/** The stored values that a filter's value stands for. */
export const storedAs = (dimension: DimensionName, value: string): string[] =>
  dimension === 'network' && knownNetwork(value) === value
    ? storedSpellings(value)
    : storedForms(dimension, value);
