import type { AmountName, CohortFigure, CountName, SumName, Sums } from './sums.ts';

export const ADMOB = 'https://support.google.com/admob/table/9462111';
export const ADJUST = 'https://www.adjust.com/glossary/';
export const IAB = 'https://www.iabuk.com/jargon-buster';
export const AMPLITUDE = 'https://amplitude.com/docs/faq/retention-analysis';
/** The source of metrics that this service defines itself. */
export const OURS = 'this service';

/** What every metric may use without reading a sum. */
type Setting = 'storeFeeBasisPoints';

type MetricUnit = 'count' | 'money' | 'percent';

export type Words = { definition: string; source: string };

export type MetricDefinition<Read extends SumName = SumName> = OwnDefinition<Read> & Words;

/** What every metric says of itself, but for where its definition is from. */
type OwnDefinition<Read extends SumName> = Pick<Words, 'definition'> & {
  label: string;
  /**
   * Sums add up over groups and periods, and are 0 without data. Distinct devices are 0 without data, but do not add up over time. Ratios are
   * null without data.
   */
  kind: 'sum' | 'distinct' | 'ratio';
  unit: MetricUnit;
  /** Shown on the dashboard if the label alone could be misread. */
  hint?: string;
  /** Whether more of it is good. By default it is. */
  more?: 'bad' | 'neutral';
  /** In terms of other metrics; absent for counts and sums. */
  formula?: string;
  /** When it is null, apart from dimensions that lack it. */
  missing?: string;
  /** Of a metric of cohorts: the figure, and the day number since the acquisition. */
  figure?: CohortFigure;
  day?: number;
} & (
    | {
        /** `days` is the number of the group's calendar days that have begun. */
        value: (sums: Pick<Sums, Read | Setting>, days: number) => number | null;
      }
    /** A sum of amounts, exact however large it is. */
    | { nanos: (sums: Pick<Sums, Read | Setting>) => bigint }
  );

/** A metric that is computed from these sums, and cannot read others. Without a source, this service defines it. */
export const from = <
  Read extends SumName,
  Definition extends OwnDefinition<Read> & Partial<Pick<Words, 'source'>>,
>(
  reads: readonly Read[],
  definition: Definition,
) => ({ source: OURS, ...definition, reads });

/** What a metric that is a sum itself says of it. */
type SumWords = Pick<MetricDefinition, 'label' | 'definition' | 'hint' | 'more' | 'missing'> & {
  source?: string;
};

/** A metric that is a sum of counts. */
export const countOf = <Name extends CountName>(name: Name, words: SumWords) =>
  from([name], {
    ...{ kind: 'sum', unit: 'count', ...words },
    value: (sums: Pick<Sums, Name>) => sums[name],
  } as const);

/** A metric that is a sum of amounts. */
export const amountOf = <Name extends AmountName>(name: Name, words: SumWords) =>
  from([name], {
    ...{ kind: 'sum', unit: 'money', ...words },
    nanos: (sums: Pick<Sums, Name>) => sums[name],
  } as const);
