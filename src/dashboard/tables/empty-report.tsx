import { findFirstDay } from '#reports';
import { Blank, Card } from '../shell/parts.tsx';
import { type Here, NO_FILTERS, type ViewChanges, viewQuery } from '../shell/view.ts';

/** A link, as its text and address. */
type Way = readonly [text: string, href: string];

type EmptyReportProps = Here & {
  title: string;
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
  const here = (changes: ViewChanges) => path + viewQuery(view, { ...carry, ...changes });
  const isFiltered = isFilterable && Object.keys(view.filters).length > 0;
  const [text, link]: readonly [string, Way | undefined] = !isElsewhere
    ? [fill, way]
    : isFiltered
      ? [`No ${what} in this period match the filters.`, ['Clear the filters', here(NO_FILTERS)]]
      : view.period === 'all'
        ? [fill, way]
        : [
            `No ${what} in this period.`,
            ['Show all time', here({ period: 'all', from: '', to: '', compare: '' })],
          ];
  return (
    <Card title={title}>
      <Blank text={text} way={link} />
    </Card>
  );
};

/** The same for a report that any event of the application may fill. */
export async function NoFigures({
  env,
  ...shown
}: Omit<EmptyReportProps, 'way' | 'isElsewhere'> & { env: Env }) {
  const { application, today } = shown.view;
  const firstDay = await findFirstDay(env.DB, application.id, today);
  const way: Way = ['Send the first event', `/get-started${viewQuery(shown.view)}`];
  return <EmptyReport {...shown} way={way} isElsewhere={firstDay !== null} />;
}
