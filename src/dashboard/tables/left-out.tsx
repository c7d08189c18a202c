import { COST_DIMENSIONS, SEGMENT } from '#catalogue';
import { givenBy, isDimension } from '#reports';
import { Info } from '../shell/info.tsx';
import { Notice } from '../shell/parts.tsx';
import type { View } from '../shell/view.ts';
import { amountsText, type UnratedAmounts } from './lacking.tsx';

type LeftOut = Partial<Record<'unconverted' | 'unallocated_spend', UnratedAmounts | undefined>>;

/** Lists the amounts that a report's figures lack, so that they are not left out silently. */
export const LeftOut = ({ report: { unconverted = [], unallocated_spend = [] } }: { report: LeftOut }) => (
  <>
    {unconverted.length > 0 && (
      <Notice kind="bad">
        Not included, because there is no exchange rate: {amountsText(unconverted)}.{' '}
        <a href="/costs/rates">Add exchange rates</a>
      </Notice>
    )}
    {unallocated_spend.length > 0 && (
      <div class="muted left-out">
        {`Unallocated spend: ${amountsText(unallocated_spend)}`}
        <Info about="the unallocated spend">
          <p>
            These costs do not state what the filters ask for, so what depends on spend is unknown here: costs
            by country, OS and network would fill it.
          </p>
        </Info>
      </div>
    )}
  </>
);

/** Whether spend exists with these groupings and the view's filters. */
export const hasSpend = (groups: readonly string[], { filters }: Pick<View, 'filters'>): boolean =>
  givenBy(groups.filter(isDimension), filters).has('spend');

const STATED = new Intl.ListFormat('en-GB').format(COST_DIMENSIONS.map((name) => SEGMENT[name].plural));

/** Why spend and its ratios are missing, if the groupings or the view's filters have none. */
export const WithoutSpend = ({ groups = [], view }: { groups?: readonly string[]; view: View }) =>
  hasSpend(groups, view) ? null : (
    <p class="hint">
      {`Costs are uploaded by campaign, ad set and creative, and may tell ${STATED} apart, so spend, CPI and ROAS are known by these only.`}
    </p>
  );

/** Why a view by hour lacks some metrics. */
export const WithoutHours = () => (
  <p class="hint">
    DAU and payers count a device once per day, and costs are uploaded by day, so they have no hours.
  </p>
);
