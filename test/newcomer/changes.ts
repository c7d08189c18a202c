import { type Edit, withEdits } from './with-edits.ts';

/** Changes by exactly what they require. `new-kind` and `new-dimension` do the same for kinds and dimensions. */
export const CHANGES = {
  metric: [
    {
      file: '/src/catalogue/metrics.ts',
      before: "  impressions: countOf('impressions', {",
      after: `  impressions_per_session: from(['impressions', 'sessions'], {
    label: 'Ads per session',
    kind: 'ratio',
    unit: 'count',
    formula: 'impressions / sessions',
    definition: 'Ads shown per session: impressions / sessions.',
    source: 'this service',
    value: (sums) => per(sums.impressions, sums.sessions),
  }),
  impressions: countOf('impressions', {`,
    },
  ],
  'field of an answer': [
    {
      file: '/src/reports/answers.ts',
      before: '  devices_with_incomplete_history: z.int().meta({',
      after:
        "  last_step: z.string().meta({ description: 'The last step.' }),\n  devices_with_incomplete_history: z.int().meta({",
    },
    {
      file: '/src/reports/answers.ts',
      before: '      step: z.string(),\n',
      after: '      step: z.string(),\n      step_number: z.int(),\n',
    },
    {
      file: '/src/reports/funnel.ts',
      before: '.map((row) => ({ ...columns, ...row }))),',
      after: `.map(({ step, ...row }, at) => ({ ...columns, step, step_number: at + 1, ...row }))),
    last_step: steps.at(-1) ?? '',`,
    },
  ],
  'property of events': [
    {
      file: '/src/catalogue/wire.ts',
      before: '  sdk_type: descriptive(optionalNameOrNumber()),\n',
      after:
        '  sdk_type: descriptive(optionalNameOrNumber()),\n  build: descriptive(optionalNameOrNumber()),\n',
    },
  ],
  'match method': [
    {
      file: '/src/attribution/rules/list.ts',
      before: 'export const MATCH_RULES: readonly MatchRule[] = [\n',
      after: `import { utmContent } from '../../../test/newcomer/attribution-rules.ts';
export const MATCH_RULES: readonly MatchRule[] = [
  utmContent,
`,
    },
  ],
  'click filter': [
    {
      file: '/src/attribution/rules/list.ts',
      before: 'export const CLICK_FILTERS: readonly ClickFilter[] = [\n',
      after: `import { refusedNetwork } from '../../../test/newcomer/attribution-rules.ts';
export const CLICK_FILTERS: readonly ClickFilter[] = [
  refusedNetwork,
`,
    },
  ],
  page: [
    {
      file: '/src/dashboard/pages.ts',
      before: 'export const PAGES: readonly PageRecord[] = [\n',
      after: `import { greeting } from '../../test/newcomer/greeting-page.tsx';
export const PAGES: readonly PageRecord[] = [
  greeting,
`,
    },
  ],
} as const satisfies Record<string, readonly Edit[]>;

/** The files that a change adds to the source. */
export const ADDED: Partial<Record<keyof typeof CHANGES, number>> = {
  page: 1,
  'match method': 1,
  'click filter': 1,
};

export const withChanges = withEdits('with-changes', Object.values(CHANGES).flat());
