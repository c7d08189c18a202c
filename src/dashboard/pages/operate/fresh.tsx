import { Freshness } from '../../shell/filters.tsx';
import { safePath } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { settleView } from '../../shell/report.tsx';
import { requireView } from '../../shell/view.ts';

/** Stands in the place of the line about counting once everything is counted: the page still shows what there was before. */
const Counted = ({ back }: { back: string }) => (
  <span class="fresh" id="fresh" role="status">
    <span class="dot" aria-hidden="true" />
    {'Counted. '}
    <a href={back}>Show the newest figures</a>
  </span>
);

/** The line about freshness alone, for pages that were opened while events were being counted. */
export async function freshPart(c: DashboardContext) {
  const back = safePath(c.req.query('back'));
  const view = await settleView(c, await requireView(c));
  return c.html(view.isSettled ? <Counted back={back} /> : <Freshness view={view} here={back} />);
}
