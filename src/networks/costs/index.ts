import { applovin } from './applovin.ts';
import type { CostReport } from './cost-report.ts';
import { google } from './google.ts';
import { meta } from './meta.ts';
import { tiktok } from './tiktok.ts';

export {
  CAMPAIGN_FILTER,
  type CostAccount,
  type CostAnswer,
  type CostOutcome,
  type CostReport,
  type CostRequest,
  type CostRow,
  CostRows,
  type CostRun,
  MAX_COST_ROWS,
  type ReportDescription,
  ReportFault,
  refusal,
} from './cost-report.ts';

/** The reports of spend that are known, by network. */
export const COST_REPORTS = { meta, tiktok, applovin, google } as const satisfies Record<string, CostReport>;
