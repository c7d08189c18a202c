import type { DashboardContext } from '../shell/page-record.ts';

// The choice between gross and net revenue, which pages carry as `revenue=net`.

/** The options of the form's field `revenue`. */
export const REVENUES = [
  ['', 'Gross'],
  ['net', 'Net of refunds and store fees'],
] as const;

export const readRevenue = (c: DashboardContext): '' | 'net' =>
  c.req.query('revenue') === 'net' ? 'net' : '';
