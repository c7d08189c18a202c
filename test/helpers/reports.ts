/** The reports of the team API. */
export const REPORT_NAMES = [
  'performance',
  'retention',
  'ltv',
  'funnel',
  'compare',
  'predicted-ltv',
  'ads',
  'client-totals',
];

const REQUIRED: Record<string, string> = { funnel: '&steps=install,ad', compare: '&by=os&a=android&b=ios' };

/** The parameters that a report requires, to be added to its query. */
export const requiredOf = (report: string): string => REQUIRED[report] ?? '';
