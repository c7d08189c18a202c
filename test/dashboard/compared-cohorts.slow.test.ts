import fc from 'fast-check';
import { expect, it } from 'vitest';
import { count, money, percent } from '#lib/format';
import { groupName } from '../../src/dashboard/tables/groups.tsx';
import {
  type Days,
  daysIn,
  daysOf,
  period,
  periodsIn,
  TODAY,
  useComparedHistory,
} from '../helpers/compared-history.ts';
import { type Page, pageOf } from '../helpers/page.ts';

// The pages of cohorts and funnels, for random periods: whatever they compare are whole days, and the rows and the rows before them are
// those that the team API gives for the days that the page names.

const { api: report, open } = useComparedHistory();

type Row = Record<string, string | number | null>;
type CohortRow = Row & { size: number; is_other?: true; days: Record<string, Record<string, number | null>> };

const api = async <Answered>(name: string, days: Days, more: Record<string, string>): Promise<Answered[]> =>
  (await report<{ data: Answered[] }>(name, days, more)).data;

const wholeDays = ({ from, to }: Days) => {
  expect(from <= to && to < TODAY, `${from} to ${to}`).toBe(true);
  return { from, to };
};

type Asked = { path: '/retention' | '/ltv'; figure: string; group: string };
const DAYS = { '/retention': [0, 1, 2, 3, 4, 5, 6, 7, 14, 21, 30], '/ltv': [0, 1, 3, 7, 14, 21, 30, 60, 90] };
const CAPTIONS: Record<string, string> = {
  ...{ classic: 'Retention by cohort and day since acquisition' },
  ...{ rolling: 'Retention by cohort and day since acquisition' },
  ...{ ltv: 'Lifetime value by cohort and day since acquisition' },
  ...{ roas: 'ROAS by cohort and day since acquisition' },
};

async function expectCohorts(page: Page, part: Page, { path, figure, group }: Asked, view: Days) {
  const periods = periodsIn(part);
  const days = DAYS[path];
  const grouped = { cohort: 'all', days: days.join(','), ...(group ? { group_by: group } : {}) };
  const read = (of: Days) => api<CohortRow>(path.slice(1), of, grouped);
  const now = await read(periods ? wholeDays(periods.now) : view);
  const before = periods ? await read(wholeDays(periods.before)) : [];
  const show = (value: number | null | undefined) =>
    figure === 'ltv' ? money(value ?? null, 'usd') : percent(value ?? null);
  const cellsOf = (row: CohortRow) => [
    count(row.size),
    ...days.map((day) => {
      const cell = row.days[day];
      return cell?.eligible ? show(cell[figure]) : 'not over yet';
    }),
  ];
  const nameOf = (row: CohortRow) => (group ? groupName(group, row) : '');
  const expected = now.flatMap((row) => {
    const earlier = before.find((one) => nameOf(one) === nameOf(row));
    return earlier ? [cellsOf(row), cellsOf(earlier)] : [cellsOf(row)];
  });
  const headings = ['Devices', ...days.map((day) => `Day ${day}`)];
  expect(page.cells(CAPTIONS[figure] ?? '', ...headings)).toEqual(expected);
}

async function expectFunnel(page: Page, part: Page, view: Days) {
  const periods = periodsIn(part);
  const read = (of: Days) => api<Row>('funnel', of, { steps: 'install,ad,purchase' });
  const now = await read(periods ? wholeDays(periods.now) : view);
  const before = periods ? await read(wholeDays(periods.before)) : null;
  const caption = 'Devices that reach each step';
  expect(page.table(caption).headings.includes('Before')).toBe(before !== null);
  const share = (value: unknown) => percent(typeof value === 'number' ? value : null);
  expect(page.cells(caption, 'Devices', 'Of first step', ...(before ? ['Before'] : []))).toEqual(
    now.map((row, index) => [
      count(Number(row.devices)),
      share(row.from_first),
      ...(before ? [share(before[index]?.from_first)] : []),
    ]),
  );
}

async function expectPeriods(page: Page) {
  const title = page.cards.find((name) => name.includes(' against '));
  if (title === undefined) return;
  const [now, before] = title.split(' against ').map((text) => wholeDays(daysIn(text)));
  if (!now || !before) throw new Error(title);
  const asked = { by: 'period', days: '1,7,30', b_from: before.from, b_to: before.to };
  const rows = await api<Row>('compare', now, asked);
  const show = (row: Row, value: unknown) => {
    const number = typeof value === 'number' ? value : null;
    return row.metric === 'arpu' ? money(number, 'usd') : percent(number);
  };
  expect(page.cells(title, 'A', 'B')).toEqual(rows.map((row) => [show(row, row.a), show(row, row.b)]));
}

const question = fc.oneof(
  fc.record({
    path: fc.constant('/retention' as const),
    figure: fc.constantFrom('classic', 'rolling'),
    group: fc.constantFrom('', 'country', 'campaign'),
  }),
  fc.record({
    path: fc.constant('/ltv' as const),
    figure: fc.constantFrom('ltv', 'roas'),
    group: fc.constantFrom('', 'country', 'campaign'),
  }),
  fc.constantFrom({ path: '/funnels' as const }, { path: '/compare' as const }),
);

it('shows the cohorts and funnels of the days that the page names, none of which is today', async () => {
  await fc.assert(
    fc.asyncProperty(
      period,
      fc.constantFrom('previous', 'year', 'none'),
      question,
      async (chosen, compare, asked) => {
        const view = daysOf(chosen);
        if (view.from > TODAY) return;
        const own =
          'figure' in asked
            ? `&cohort=all&group=${asked.group}&kind=${asked.figure}&show=${asked.figure}`
            : asked.path === '/compare'
              ? '&by=period'
              : '';
        const answer = await open(asked.path, `period=${chosen}&compare=${compare}${own}`);
        expect(answer.status).toBe(200);
        const page = await pageOf(answer);
        if (asked.path === '/compare') return await expectPeriods(page);
        const cards = {
          '/retention': 'Retention by day',
          '/ltv': 'Lifetime value of a device',
          '/funnels': 'Funnel',
        };
        const title = cards[asked.path];
        // A period without devices has no figures.
        if (page.tables.length === 0) return;
        if ('figure' in asked) await expectCohorts(page, page.card(title), asked, view);
        else await expectFunnel(page, page.card(title), view);
      },
    ),
    { numRuns: 60 },
  );
});
