import { describe, expect, it } from 'vitest';
import { RATIOS } from '#lib/format';
import { addDays, daysBetween } from '#lib/time';
import { CohortCurves, CURVE_DAYS, curveOf, PAID_BACK } from '../../src/dashboard/charts/cohort-curves.tsx';
import { CohortTable } from '../../src/dashboard/tables/cohort-table.tsx';
import { figureColumn } from '../../src/dashboard/tables/figure-column.tsx';
import { Table } from '../../src/dashboard/tables/table.tsx';
import { draw, expectValues, isFew, numberShown, readChart, shadeOf, valuesIn } from '../helpers/drawing.ts';

// Curves and shades of cohorts, read back to numbers.

describe('curves of cohorts', () => {
  const row = {
    size: 10,
    days: Object.fromEntries(
      CURVE_DAYS.map((day) => [
        String(day),
        { eligible: day <= 7 ? 10 : day <= 14 ? 5 : 4, value: 0.1 + day / 10 },
      ]),
    ),
  };

  it('end where fewer than half of the devices have completed the day', () => {
    const values = curveOf(row, ({ value }) => value);
    expect(CURVE_DAYS.filter((_, index) => values[index] !== null).at(-1)).toBe(14);
  });

  it('stand on their days, with the line where spend is paid back', () => {
    const values = curveOf(row, ({ value }) => value);
    const figure = draw(CohortCurves, {
      ...{ title: 'ROAS', format: RATIOS, level: PAID_BACK },
      series: [{ name: 'Own', values }],
    });
    const drawn = readChart(figure);
    const days = CURVE_DAYS.filter((day) => day <= 14);
    const [series] = drawn.series;
    if (!series) throw new Error('no series');
    expectValues(
      valuesIn(
        series,
        days.map((day) => (day / 14) * 100),
      ),
      values.slice(0, days.length),
      2,
    );
    expect(drawn.levels[0]).toBeCloseTo(1, 9);
    for (const { text, x } of drawn.labels)
      expect(x).toBeCloseTo((Number(text.replace('Day ', '')) / 14) * 100, 1);
  });
});

const TODAY = '2026-03-15';
const HERE = { path: '/retention', view: { today: TODAY } } as never;

describe('a table of cohorts', () => {
  const DAYS = [0, 1, 3, 7];
  /** Acquired over two days: as many devices on each, so that on one day a half has completed a day. */
  const cohort = (to: string, size: number, share: number) => ({
    cohort_from: addDays(to, -1),
    cohort_to: to,
    size,
    share,
  });
  const rows = [
    cohort('2026-03-01', 20, 0.4),
    cohort('2026-03-11', 20, 0.3),
    cohort('2026-03-14', 20, 0.9),
    cohort('2026-03-15', 20, 0.95),
  ];
  type Row = (typeof rows)[number];
  const eligibleOf = ({ cohort_from, cohort_to, size }: Row, day: number) =>
    [cohort_from, cohort_to].filter((own) => daysBetween(own, TODAY) > day).length * (size / 2);
  const minority = { ...cohort('2026-03-01', 20, 0.8), few: 9 };
  const cell = (row: Row & { few?: number }, day: number) => {
    const eligible = row.few ?? eligibleOf(row, day);
    return { eligible, value: eligible === 0 ? null : row.share / (day + 1) };
  };
  const drawn = (all: readonly Row[], before: readonly Row[] = []) =>
    draw(CohortTable<Row>, {
      ...(HERE as object),
      ...{ caption: 'Retention', asked: { cohort: 'day', group: '' }, rows: all, days: DAYS, cell, before },
      ...{ format: RATIOS, isHeat: (day: number) => day > 0 },
    } as never)
      .querySelectorAll('tbody tr')
      .map((line) => line.querySelectorAll('td.heat, th.heat'));

  it('shades what most devices have completed, by the largest of these', () => {
    const cells = drawn([...rows, minority]);
    expect(cells.map((line) => line.length)).toEqual(cells.map(() => DAYS.length));
    for (const [index, row] of [...rows, minority].entries()) {
      for (const [at, day] of DAYS.entries()) {
        const own = cells[index]?.[at];
        if (!own) throw new Error('no cell');
        const { eligible, value } = cell(row, day);
        const most = eligible >= row.size / 2 && eligible > 0;
        expect(shadeOf(own) > 0, `${row.cohort_to}, day ${day}`).toBe(most && day > 0 && (value ?? 0) > 0);
        expect(isFew(own), `${row.cohort_to}, day ${day}`).toBe(eligible > 0 && !most);
        if (eligible === 0) expect(own.text.trim()).toBe('not over yet');
        else expect(numberShown(own.text)).toBeCloseTo(value ?? Number.NaN, 3);
      }
    }
  });

  it('shades a value by its share of the deepest, which a young or an earlier cohort is not', () => {
    const shades = (all: readonly Row[], before: readonly Row[] = []) =>
      drawn(all, before).map((line) => line.map(shadeOf));
    const [old = cohort('', 0, 0)] = rows;
    // 0.2, 0.1 and 0.05 of at most 0.2.
    expect(shades([old])).toEqual([[0, 10, 5, 3]]);
    expect(shades([old, minority])).toEqual([
      [0, 10, 5, 3],
      [0, 0, 0, 0],
    ]);
    expect(shades([old], [{ ...old, share: 0.8 }])).toEqual([
      [0, 10, 5, 3],
      [0, 0, 0, 0],
    ]);
  });
});

describe('a column of figures', () => {
  const column = (values: readonly (number | null)[]) => {
    const rows = values.map((roas) => ({ roas }));
    return draw(Table<(typeof rows)[number]>, {
      caption: 'Own',
      rows,
      columns: [figureColumn('roas', rows, { currency: 'usd' }, (row) => row)],
    } as never)
      .querySelectorAll('tbody tr')
      .map((line) => {
        const shade = line.querySelector('span.shade');
        return shade ? shadeOf(shade) : 0;
      });
  };

  it('shades ratios by the largest, from three rows on', () => {
    expect(column([0.2, 0.4])).toEqual([0, 0]);
    expect(column([0.2, 0.4, null])).toEqual([0, 0, 0]);
    expect(column([0.2, 0.4, 1])).toEqual([2, 4, 10]);
    expect(column([0.2, null, 0, 1])).toEqual([2, 0, 0, 10]);
  });
});
