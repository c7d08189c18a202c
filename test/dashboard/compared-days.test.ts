import fc from 'fast-check';
import { expect, it } from 'vitest';
import { changeOf, PLAIN_METRICS } from '#catalogue';
import { addDays } from '#lib/time';
import { placeText } from '../../src/dashboard/shell/dates.ts';
import { isGrowing, sizeText } from '../../src/dashboard/tables/compared.tsx';
import { groupName, groupWord } from '../../src/dashboard/tables/groups.tsx';
import {
  METRIC_DEFINITIONS,
  METRIC_NAMES,
  type MetricName,
  nothingOf,
  placesOf,
  showMetric,
} from '../../src/dashboard/tables/metrics.ts';
import { isHourly } from '../../src/dashboard/tables/part-of-day.ts';
import {
  type Days,
  daysOf,
  period,
  periodsIn,
  TODAY,
  useComparedHistory,
} from '../helpers/compared-history.ts';
import { type Page, pageOf } from '../helpers/page.ts';

// Every page that compares periods, for random periods: the figure, the earlier figure and the change beside it are those that the team API gives
// for the days that the page names.

const { api: report, idOf, open } = useComparedHistory();

type Row = Record<string, string | number | null>;
type Answer = { data: Row[]; totals: Row };

const api = (days: Days, more: Record<string, string>) => report<Answer>('performance', days, more);

const show = (name: MetricName, value: unknown) =>
  showMetric(name, typeof value === 'number' ? value : null, 'usd');
const numberOf = (value: unknown) => (typeof value === 'number' ? value : null);

/** Every figure of a card against the API's totals. */
async function expectCard(card: Page, filters: Record<string, string>, view: Days) {
  const periods = periodsIn(card);
  const inTotal = { group_by: 'month', metrics: `${PLAIN_METRICS},roas_d7`, ...filters };
  const whole = await api(view, inTotal);
  const [now, before] = periods
    ? await Promise.all([api(periods.now, inTotal), api(periods.before, inTotal)])
    : [whole, null];
  const ofToday = view.from <= TODAY && view.to >= TODAY ? ' so far' : '';
  const shown = Object.entries(card.figures);
  expect(shown.length).toBeGreaterThan(2);
  for (const [label, marked] of shown) {
    const text = marked.replace(' ?', '');
    const name = METRIC_NAMES.find((metric) => METRIC_DEFINITIONS[metric].label === label);
    if (!name) throw new Error(label);
    if (!periods || !before || (periods.now.until_hour && !isHourly(name))) {
      expect(text).toBe(show(name, whole.totals[name]) + ofToday);
      continue;
    }
    const [is, was] = [numberOf(now.totals[name]), numberOf(before.totals[name])];
    const by = changeOf(name, is, was);
    // The value is of the whole view, compared or not.
    const value = show(name, whole.totals[name]) + ofToday;
    expect(text.startsWith(value)).toBe(true);
    const rest = text.slice(value.length).replace(/ \S+ (without today|until \d\d:00)$/, '');
    if (was === null) expect(rest).toBe('');
    else if (rest.includes('still growing')) expect(rest).toBe(` still growing ${show(name, was)} before`);
    else if (by === null) expect(rest).toBe(` ${show(name, was)} before`);
    else {
      expect(rest).toContain(` ${sizeText(name, by, 'usd')} `);
      expect(rest.endsWith(` ${show(name, was)} before`)).toBe(true);
    }
  }
}

type Table = { caption: string; group: string; metric: MetricName };

/** A change as the pill in a figure's cell says it. */
function pillText(metric: MetricName, is: number | null, was: number | null): string {
  const change = changeOf(metric, is, was);
  if (change === null) return '';
  const { by } = change;
  const [arrow, word] = by > 0 ? ['▲', 'more than'] : by < 0 ? ['▼', 'less than'] : ['', 'as much as'];
  const size = sizeText(metric, change, 'usd');
  return ` ${`${arrow} ${size} ${word} ${show(metric, was)}${by === 0 ? ' before' : ''}`.trim()}`;
}

const isGrowingIn = (periods: NonNullable<ReturnType<typeof periodsIn>>, metric: MetricName) =>
  isGrowing(metric, periods, { today: TODAY });

/** Every row of a table, and its totals, against the API's rows of the same groups. */
async function expectTable(
  page: Page,
  part: Page,
  { caption, group, metric }: Table,
  view: Days,
  filters: Record<string, string>,
) {
  const periods = periodsIn(part);
  const { headings, rows, totals } = page.table(caption);
  const column = headings.indexOf(METRIC_DEFINITIONS[metric].label);
  expect(rows.length).toBeGreaterThan(0);
  const asked = { group_by: group, ...filters };
  const whole = await api(view, asked);
  const [now, before] = periods
    ? await Promise.all([api(periods.now, asked), api(periods.before, asked)])
    : [whole, null];
  const figureOf = (answer: Answer | null, cells: readonly string[]) => {
    if (cells === totals) return numberOf(answer?.totals[metric]);
    // Below the name may be what contains it.
    const found = answer?.data.find((row) => `${cells[0]} `.startsWith(`${groupName(group, row)} `));
    return found ? numberOf(found[metric]) : nothingOf(metric);
  };
  const places = placesOf(
    metric,
    rows.map((cells) => figureOf(whole, cells)),
    'usd',
  );
  for (const cells of totals.length > 0 ? [...rows, totals] : rows) {
    const [is, was] = [figureOf(now, cells), figureOf(before, cells)];
    const pill = periods && !isGrowingIn(periods, metric) ? pillText(metric, is, was) : '';
    // Marked where costs of the campaign may be of it, too.
    const shown = (cells[column] ?? '').replace(' ?', '');
    const value = figureOf(whole, cells);
    const figure = showMetric(metric, value, 'usd', places);
    // An item without any figures in the period is in the list of creatives, too.
    const isSilent = value === 0 && shown.startsWith('–');
    expect({ row: cells[0], shown }).toEqual({ row: cells[0], shown: (isSilent ? '–' : figure) + pill });
  }
}

/** Every row of a day against the API's figures of that day and of the day at the same position. */
async function expectDays(page: Page, part: Page, metric: MetricName, view: Days) {
  const periods = periodsIn(part);
  const { headings, rows } = page.table('Figures by day');
  if (!periods) return expect(page.all('.changed')).toEqual([]);
  const [now, before] = await Promise.all([
    api(view, { group_by: 'day' }),
    api(periods.before, { group_by: 'day' }),
  ]);
  const apart = (Date.parse(view.from) - Date.parse(periods.before.from)) / 86_400_000;
  const figureOf = (answer: Answer, day: string) =>
    numberOf((answer.data.find((row) => row.day === day) ?? { [metric]: nothingOf(metric) })[metric]);
  const days = new Map(now.data.map((row) => [placeText('day', String(row.day), TODAY), String(row.day)]));
  const places = placesOf(
    metric,
    now.data.map((row) => row[metric]),
    'usd',
  );
  expect(rows.map(([name]) => days.has(name ?? ''))).not.toContain(false);
  for (const [name = '', ...cells] of rows) {
    const day = days.get(name) ?? '';
    const earlier = addDays(day, -apart);
    const isOver = day <= periods.now.to && earlier <= periods.before.to;
    const is = figureOf(now, day);
    const was = isOver ? figureOf(before, earlier) : null;
    const shown = cells[headings.indexOf(METRIC_DEFINITIONS[metric].label) - 1];
    expect([day, shown]).toEqual([day, showMetric(metric, is, 'usd', places) + pillText(metric, is, was)]);
  }
}

const METRICS_COMPARED = ['revenue', 'installs', 'dau', 'payers', 'spend'] as const;
const AD_METRICS = ['ad_revenue', 'impressions', 'ecpm'] as const;
const question = fc.oneof(
  fc.constantFrom('/', '/costs', '/creatives/{creative}').map((path) => ({ path })),
  fc
    .record({
      path: fc.constant('/breakdown'),
      group: fc.constantFrom('creative', 'country', 'campaign', 'os', 'day'),
      metric: fc.constantFrom(...METRICS_COMPARED),
    })
    .filter(({ group, metric }) => metric !== 'spend' || group === 'creative' || group === 'campaign'),
  fc.record({
    path: fc.constant('/ads'),
    group: fc.constantFrom('creative', 'country', 'campaign', 'media_source', 'source'),
    metric: fc.constantFrom(...AD_METRICS),
  }),
  fc.record({
    path: fc.constant('/creatives'),
    group: fc.constantFrom('creative', 'campaign'),
    metric: fc.constantFrom('revenue', 'installs', 'spend', 'roas'),
  }),
);

it('shows figures, earlier figures and changes of the days that the page names', async () => {
  const creative = idOf('Castle');
  await fc.assert(
    fc.asyncProperty(
      period,
      fc.constantFrom('previous', 'weekdays', 'year', 'none'),
      question,
      async (chosen, compare, asked) => {
        const view = daysOf(chosen);
        const path = asked.path.replace('{creative}', creative);
        const isAhead = view.from > TODAY;
        if (isAhead) return;
        const own =
          'metric' in asked ? `&by=${asked.group}&metric=${asked.metric}&sort=-${asked.metric}` : '';
        const answer = await open(path, `period=${chosen}&compare=${compare}${own}`);
        expect(answer.status).toBe(200);
        const page = await pageOf(answer);
        if (!('metric' in asked)) {
          const filters: Record<string, string> = path === asked.path ? {} : { creative_id: creative };
          // A period without costs has no figures of them.
          if (path === '/costs' && !page.cards.includes('This period')) return;
          await expectCard(page.card('This period'), filters, view);
          if (path !== '/' || !page.cards.includes('Top campaigns')) return;
          const table = { caption: 'Campaigns with the highest revenue', group: 'campaign' };
          await expectTable(page, page.card('Top campaigns'), { ...table, metric: 'revenue' }, view, {});
          return;
        }
        const { group, metric } = asked;
        const captions: Record<string, string> = {
          '/breakdown': `Figures by ${group}`,
          '/ads': `Ad figures by ${groupWord(group)}`,
          '/creatives': group === 'creative' ? 'Creatives' : 'Campaigns',
        };
        const caption = captions[path] ?? '';
        const isEmpty =
          !page.tables.some((name) => name.startsWith(caption)) || page.table(caption).rows.length < 2;
        if (isEmpty) return;
        const title =
          { '/breakdown': 'All figures', '/creatives': caption }[path] ?? `By ${groupWord(group)}`;
        const part = page.card(title);
        if (group === 'day') await expectDays(page, part, metric, view);
        else await expectTable(page, part, { caption, group, metric }, view, {});
      },
    ),
    { numRuns: 50 },
  );
});
