import type { HTMLElement } from 'node-html-parser';
import { describe, expect, it } from 'vitest';
import { BreakdownChart } from '../../src/dashboard/charts/breakdown-chart.tsx';
import { Strip } from '../../src/dashboard/pages/alerts/alert-preview.tsx';
import { barShare, draw } from '../helpers/drawing.ts';

// The days of an alert and the bars of a breakdown, read back and compared with what was to be drawn.

const at = (element: HTMLElement, ...names: string[]) =>
  names.map((name) => Number(element.getAttribute(name)));

describe('the days of an alert', () => {
  const firing = [true, false, null, true, null, false, false];
  const days = firing.map((fires, index) => ({
    to: `2026-03-0${index + 1}`,
    group: fires === null ? undefined : { key: 'k', name: 'Spring', firing: fires },
  })) as unknown as Parameters<typeof Strip>[0]['days'];
  const strip = draw(Strip, { days }).querySelector('svg.strip');
  if (!strip) throw new Error('no strip');
  const marks = strip.querySelectorAll('rect');
  const [width = 0, height = 0] = at(strip, 'width', 'height');

  it('are a mark each, from the first to the last, none over another or outside', () => {
    expect(marks).toHaveLength(firing.length);
    let end = 0;
    for (const mark of marks) {
      const [x = -1, own = 0] = at(mark, 'x', 'width');
      expect(x).toBeGreaterThanOrEqual(end);
      expect(own).toBeGreaterThan(0);
      end = x + own;
    }
    expect(end).toBeLessThanOrEqual(width);
    expect(strip.getAttribute('viewBox')).toBe(`0 0 ${width} ${height}`);
  });

  it('reach the top past the threshold, stand on the ground, and are lowest where nothing was judged', () => {
    const drawn = marks.map((mark) => {
      const [y = 0, own = 0] = at(mark, 'y', 'height');
      expect(y + own).toBe(height);
      return { is: mark.getAttribute('class'), height: own };
    });
    const [past, fine, none] = [drawn[0], drawn[1], drawn[2]];
    expect([past?.is, fine?.is, none?.is]).toEqual(['past', 'fine', 'none']);
    expect(past?.height).toBe(height);
    expect(fine?.height).toBeLessThan(height / 2);
    expect(none?.height).toBeLessThan(fine?.height ?? 0);
    expect(drawn).toEqual(firing.map((fires) => (fires === null ? none : fires ? past : fine)));
  });
});

describe('the bars of a breakdown', () => {
  const rowsOf = (figures: Readonly<Record<string, number | null>>) =>
    Object.entries(figures).map(([country, installs]) => ({ country, installs, is_other: false }));
  const reportOf = (rows: object[]) => ({ data: rows, totals: {} });
  const bars = (figures: Readonly<Record<string, number | null>>, more: object[] = []) => {
    const report = reportOf([...rowsOf(figures), ...more]);
    const compared = { periods: null, report, shown: report, before: null, earlier: null };
    const list = draw(BreakdownChart, {
      view: { currency: 'usd' },
      groups: ['country'],
      metric: 'installs',
      compared,
    } as unknown as Parameters<typeof BreakdownChart>[0]);
    return list.querySelectorAll('li').map((item) => ({
      name: item.querySelector('.bar-name')?.text.trim(),
      share: barShare(item.querySelector('svg') ?? item),
      figure: item.querySelector('.number')?.text.trim(),
    }));
  };

  it('are the shares of the largest, in order', () => {
    const drawn = bars({ de: 731, at: 1_234, fr: 17, se: 0 });
    expect(drawn.map(({ name }) => name)).toEqual(['Austria', 'Germany', 'France', 'Sweden']);
    expect(drawn.map(({ figure }) => figure)).toEqual(['1,234', '731', '17', '0']);
    for (const [place, value] of [1_234, 731, 17, 0].entries()) {
      expect(drawn[place]?.share).toBeCloseTo(value / 1_234, 4);
    }
  });

  it('leave out the rest and what has no figure, and are at most ten', () => {
    const many = Object.fromEntries(
      'de at fr se it es pt nl be dk fi no'.split(' ').map((of, at) => [of, 100 - at]),
    );
    const drawn = bars(many, [
      { country: null, installs: 5_000, is_other: true },
      { country: 'pl', installs: null },
    ]);
    expect(drawn).toHaveLength(10);
    expect(drawn[0]?.share).toBe(1);
    expect(drawn[9]?.share).toBeCloseTo(0.91, 4);
  });
});
