import { expect, it } from 'vitest';
import { Sides } from '../../src/dashboard/pages/reports/compare-sides.tsx';
import type { View } from '../../src/dashboard/shell/view.ts';
import { Page } from '../helpers/page.ts';

type Report = Parameters<typeof Sides>[0]['report'];

const row = (metric: 'retention' | 'arpu', day: number, a: number, b: number, by: number) => ({
  ...{ metric, day, a, b, difference: b - a, low: b - a - by, high: b - a + by },
  ...{ a_devices: 100, b_devices: 100, p_value: 0.2, test: 'z' },
});

it('writes the shares of a column with the same decimals, and its amounts', async () => {
  const report = {
    data: [
      row('retention', 1, 0.5, 0.455, 0.1),
      row('retention', 7, 0.25, 0.25, 0.1),
      row('arpu', 1, 0.04, 0.05, 0.02),
      row('arpu', 7, 1.5, 1.53, 2),
    ],
    ...{ a: { size: 100 }, b: { size: 100 }, rate_day: '2026-03-07' },
  } as unknown as Report;
  const view = { currency: 'usd', today: '2026-03-08' } as View;
  const page = new Page(String(await Sides({ report, names: { a: 'Cat', b: 'Dog' }, view })));
  expect(page.cells('Cat against Dog', 'A', 'B', 'Difference', '95% interval')).toEqual([
    ['50.0%', '45.5%', '−4.50 pts', '−14.50 pts to +5.50 pts'],
    ['25.0%', '25.0%', '0.00 pts', '−10.00 pts to +10.00 pts'],
    // An amount below a dollar has more decimals only where no amount of its column is above.
    ['$0.04', '$0.05', '+$0.0100', '−$0.01 to +$0.03'],
    ['$1.50', '$1.53', '+$0.0300', '−$1.97 to +$2.03'],
  ]);
});
