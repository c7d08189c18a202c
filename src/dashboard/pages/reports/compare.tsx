import { findNames, INVENTORY_LEVELS, MAX_NAMES, searchNames } from '#creatives';
import { database } from '#db';
import { readAs } from '#http';
import { isolate } from '#lib/input/isolate';
import {
  CompareQuery,
  isOfGroup,
  PerformanceQuery,
  reportCompare,
  reportPerformance,
  tableColumns,
} from '#reports';
import { ChoiceForm } from '../../forms/fields.tsx';
import { checkForm } from '../../forms/form.ts';
import { shortDays } from '../../shell/dates.ts';
import { NAMED_KINDS, valueLabel } from '../../shell/filter-names.ts';
import { isRestricted } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card } from '../../shell/parts.tsx';
import { comparedWholeDays, isUncompared } from '../../shell/period.ts';
import {
  answerCsv,
  CsvLink,
  NameSearch,
  renderReport,
  searchOf,
  viewAsked,
  wantsCsv,
} from '../../shell/report.tsx';
import type { FilterName, View } from '../../shell/view.ts';
import { DEVICE_GROUPINGS } from '../../tables/groups.tsx';
import { sortRows } from '../../tables/metrics.ts';
import { REVENUES, readRevenue } from '../../tables/net-revenue.ts';
import { Sides } from './compare-sides.tsx';

const DAYS = '1,7,30';
const MAX_OFFERED = 100;
const NAMED: readonly string[] = INVENTORY_LEVELS;
const BY = [...DEVICE_GROUPINGS, ['period', 'Period'] as const];
const isolatePath = (path: string) => path.split(' › ').map(isolate).join(' › ');
type Option = readonly [value: string, label: string];

/** The options to compare: those with the most installs first, and the chosen ones in any case. */
async function optionsOf(
  c: DashboardContext,
  view: View,
  by: string,
  chosen: readonly string[],
  q: string,
): Promise<Option[]> {
  const filter = (NAMED.includes(by) ? `${by}_id` : by) as FilterName;
  const kind = NAMED_KINDS[filter];
  const db = database(c.env.DB);
  const search = (text: string) =>
    searchNames(db, view.application.id, { kind: kind ?? 'creative', q: text, limit: MAX_OFFERED });
  const labelsOf = (found: readonly { id: string; name: string; parent?: string | null }[]) => [
    ...new Map(
      found.map(
        ({ id, name, parent }): Option => [
          id,
          parent ? `${isolate(name)} (${isolatePath(parent)})` : isolate(name),
        ],
      ),
    ),
  ];
  if (kind && q !== '' && !isRestricted(c.get('person'), view)) {
    const names = await findNames(db, view.application.id, kind, chosen);
    return labelsOf([...chosen.flatMap((id) => names.get(id) ?? []), ...(await search(q))]);
  }
  const query = {
    ...readAs(PerformanceQuery, { ...viewAsked(view), group_by: by }),
    limit: MAX_NAMES - chosen.length,
    metrics: ['installs' as const],
  };
  const report = await reportPerformance(c.env, view.application, query, view.now);
  const column = kind ? filter : by;
  const counted = sortRows(report.data, '-installs').flatMap((row) =>
    !isOfGroup(row) || row[column] == null ? [] : [String(row[column])],
  );
  const values = [...new Set([...counted, ...chosen])];
  if (!kind) return values.map((value): Option => [value, isolate(valueLabel(filter, value))]);
  const [names, newest] = await Promise.all([
    findNames(db, view.application.id, kind, values),
    isRestricted(c.get('person'), view) ? [] : search(''),
  ]);
  return labelsOf([...values.flatMap((id) => names.get(id) ?? []), ...newest]);
}

function comparePage(c: DashboardContext) {
  const by = BY.find(([name]) => name === c.req.query('by'))?.[0] ?? 'creative';
  const isByPeriod = by === 'period';
  const isNamed = NAMED.includes(by);
  const revenue = readRevenue(c);
  const q = isNamed ? searchOf(c) : '';
  const page = {
    carry: { by, a: c.req.query('a') ?? '', b: c.req.query('b') ?? '', revenue },
    bar: isByPeriod ? undefined : (['period', 'filters', 'currency'] as const),
  };
  return renderReport(c, page, async (view, here) => {
    const sent = [c.req.query('a') ?? '', c.req.query('b') ?? ''].filter((value) => value !== '');
    const options = isByPeriod ? [] : await optionsOf(c, view, by, sent, q);
    const [first, second] = options;
    const a = c.req.query('a') || (first?.[0] ?? '');
    const b = c.req.query('b') || (options.find(([value]) => value !== a)?.[0] ?? '');
    const compared = comparedWholeDays({
      ...view,
      comparison: view.comparison === 'none' ? 'previous' : view.comparison,
      isFirstDay: false,
    });
    const canAsk = isByPeriod
      ? compared !== null
      : a !== '' && b !== '' && (sent.length > 0 || second !== undefined);
    const { data: query, faults } = canAsk
      ? checkForm(CompareQuery, {
          ...viewAsked(view),
          by,
          days: DAYS,
          net: String(revenue === 'net'),
          ...(isByPeriod
            ? { ...compared?.now, b_from: compared?.before.from, b_to: compared?.before.to }
            : { a, b }),
        })
      : { data: null, faults: null };
    const shownFaults = (faults ?? []).map((fault) =>
      a === b && fault.path === 'b' ? { ...fault, message: 'must not be the same as A' } : fault,
    );
    const form = (
      <ChoiceForm
        path="/compare"
        view={view}
        fields={[
          { label: 'Compare', name: 'by', value: by, options: BY },
          ...(isByPeriod
            ? []
            : [
                { label: 'A', name: 'a', value: a, options },
                { label: 'B', name: 'b', value: b, options },
              ]),
          { label: 'Revenue', name: 'revenue', value: revenue, options: REVENUES },
        ]}
        faults={shownFaults}
      >
        {isNamed && (
          <NameSearch q={q} label="Find among all names" placeholder="Find among all names" class="find" />
        )}
      </ChoiceForm>
    );
    if (!query) {
      if (faults) c.status(400);
      return (
        <>
          {form}
          {!faults && (
            <Card title="Nothing to compare yet">
              <p>
                {isByPeriod
                  ? isUncompared(view.period)
                    ? 'All time has no period before it. Choose another period above.'
                    : 'No day of this period is over. Choose another period above.'
                  : `${view.application.name} needs two of these to compare. ${by === 'creative' ? 'Create creatives' : 'They appear with the first events'}, then choose two.`}
              </p>
            </Card>
          )}
        </>
      );
    }
    const report = await reportCompare(c.env, view.application, query, view.now);
    if (wantsCsv(c)) {
      return answerCsv(c, report, tableColumns('compare', []), view);
    }
    const nameOf = (side: 'a' | 'b') =>
      isByPeriod
        ? shortDays(report[side], view.today)
        : (options.find(([value]) => value === (side === 'a' ? a : b))?.[1] ??
          isolate(report[side].name ?? ''));
    return (
      <>
        {form}
        <Sides report={report} names={{ a: nameOf('a'), b: nameOf('b') }} view={view}>
          <CsvLink {...here} carry={{ by, a: isByPeriod ? '' : a, b: isByPeriod ? '' : b, revenue }} />
        </Sides>
      </>
    );
  });
}

export const compare: PageRecord = {
  path: '/compare',
  title: 'Compare',
  links: [{ group: 'Acquire', icon: 'M5 3v10M11 3v10M2 6l3-3 3 3M8 10l3 3 3-3' }],
  savable: true,
  routes: pageRoutes().get('/', comparePage),
};
