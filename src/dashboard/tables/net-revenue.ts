import type { DashboardContext } from '../shell/page-record.ts';

// The choice between gross and net revenue, which pages carry as `revenue=net`.

/** The options of the form's field `revenue`. */
export const REVENUES = [
  ['', 'Gross'],
  ['net', 'Net of refunds and store fees'],
] as const;

export const isNetAsked = (c: DashboardContext): boolean => c.req.query('revenue') === 'net';

/** The value of the field. */
export const revenueIn = (isNet: boolean): '' | 'net' => (isNet ? 'net' : '');
