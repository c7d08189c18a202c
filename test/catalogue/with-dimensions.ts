import { type Edit, withEdits } from '../newcomer/with-edits.ts';

// Builds the Worker with two more dimensions, in the middle of their list, by exactly the changes that adding them requires: one that a device has,
// and one that each event tells. Both are sent already.

export const DIMENSION_EDITS: readonly Edit[] = [
  {
    file: '/src/catalogue/segments.ts',
    before: '  app_version: {\n    label:',
    after: `  timezone: {
    label: 'Time zone',
    plural: 'time zones',
    of: 'device',
    field: 'timezone',
    form: 'name',
    maxCharacters: 64,
    givenUp: 2,
    ofCosts: false,
    isShared: true,
  },
  sdk_type: {
    label: 'SDK',
    plural: 'SDKs',
    of: 'event',
    field: 'sdk_type',
    form: 'name',
    maxCharacters: 64,
    givenUp: 1,
    ofCosts: false,
    isShared: true,
  },
  app_version: {
    label:`,
  },
  {
    file: '/src/devices/draft.ts',
    before: '    network: draft.network,\n',
    after: '    network: draft.network,\n    timezone: data.timezone,\n',
  },
];

export const withDimensions = withEdits('with-dimensions', DIMENSION_EDITS);
