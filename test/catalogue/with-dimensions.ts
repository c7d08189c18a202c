// Builds the Worker with two more dimensions, in the middle of their list, by exactly the changes that adding them requires: one that a device has,
// and one that each event tells. Both are sent already.

const EDITS: { file: string; before: string; after: string }[] = [
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

/** A plugin of Vite. Throws where a file that it edits has changed its form. */
export const withDimensions = {
  name: 'with-dimensions',
  enforce: 'pre' as const,
  transform(code: string, file: string): string | undefined {
    const edits = EDITS.filter((one) => file.endsWith(one.file));
    if (edits.length === 0) return undefined;
    return edits.reduce((text, { before, after }) => {
      if (!text.includes(before)) throw new Error(`${file} has no ${before}`);
      return text.replace(before, after);
    }, code);
  },
};
