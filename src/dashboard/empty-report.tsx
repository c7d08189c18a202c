import { database } from '#db';
import { findFirstDay } from '#reports';
import { Card } from './parts.tsx';
import { FILTER_NAMES, type View, viewQuery } from './view.ts';

/** A link, as its text and address. */
export type Way = readonly [text: string, href: string];

/** The way to the first event, which fills every report. */
export const firstEvent = (view: View): Way => ['Send the first event', `/get-started${viewQuery(view)}`];

/** Whether the application has any figures, in whatever period. */
export const hasFigures = async (env: Env, { application, today }: View): Promise<boolean> =>
  (await findFirstDay(database(env.DB), application.id, today)) !== null;

type EmptyReportProps = {
  title: string;
  view: View;
  path: string;
  /** The page's own parameters, which the links keep. */
  carry?: Record<string, string>;
  /** What is missing, within a sentence: `devices acquired`. */
  what: string;
  /** What fills the report, as a sentence, and where that is done, if the reader may do it. */
  fill: string;
  way?: Way | undefined;
  /** Whether any period has what this one lacks. */
  isElsewhere: boolean;
  /** Whether the view's filters apply to the report. */
  isFilterable?: boolean;
};

/** Why a report is empty, in one sentence, with a link to what changes that: other filters, another period, or what fills the report. */
export const EmptyReport = ({
  title,
  view,
  path,
  carry = {},
  what,
  fill,
  way,
  isElsewhere,
  isFilterable = true,
}: EmptyReportProps) => {
  const here = (changes: Parameters<typeof viewQuery>[1]) => path + viewQuery(view, { ...carry, ...changes });
  const isFiltered = isFilterable && Object.keys(view.filters).length > 0;
  const unfiltered = Object.fromEntries(FILTER_NAMES.map((name) => [name, '']));
  const [text, link]: readonly [string, Way | undefined] = !isElsewhere
    ? [fill, way]
    : isFiltered
      ? [`No ${what} in this period match the filters.`, ['Clear the filters', here(unfiltered)]]
      : view.period === 'all'
        ? [fill, way]
        : [
            `No ${what} in this period.`,
            ['Show all time', here({ period: 'all', from: '', to: '', compare: '' })],
          ];
  return (
    <Card title={title}>
      <p class="empty">
        {text} {link && <a href={link[1]}>{link[0]}</a>}
      </p>
    </Card>
  );
};
