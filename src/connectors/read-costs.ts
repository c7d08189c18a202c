import type { SQL } from 'drizzle-orm';
import type { Database } from '#db';
import type { Fetch } from '#lib/input/fetch';
import { replaceFetchedCosts } from '#money';
import { type CostOutcome, type CostReport, ReportFault } from '#networks/costs';
import type { ConnectorRow } from './connector-row.ts';
import { runReport, type Sleep } from './fetch-answers.ts';
import type { Replacement } from './replacement.ts';
import type { ReportBudget } from './report-budget.ts';
import type { Window } from './windows.ts';

/**
 * Reads a network's report of some days, and prepares to replace what is stored of them. The report may also have to be waited for. Throws with
 * what the network says is wrong.
 */
export async function readCosts(
  db: Database,
  report: CostReport,
  row: ConnectorRow,
  { from, to }: Window,
  context: {
    credentials: Record<string, string>;
    currency: string;
    fetcher: Fetch;
    sleep: Sleep;
    now: number;
    when: SQL;
    budget: ReportBudget;
  },
): Promise<Replacement | Extract<CostOutcome, { waitSeconds: number }>> {
  const { credentials, now, when } = context;
  const settings = { ...row.settings, currency: context.currency };
  const state = row.job?.state ?? null;
  const outcome = await runReport(report.read({ settings, credentials, from, to, state }), context);
  if ('waitSeconds' in outcome) return outcome;
  const { rows } = outcome;
  const stranger = rows.find(({ date }) => date < from || date > to);
  if (stranger) throw new ReportFault(`the report has ${stranger.date}, which was not asked for`);
  const own = { applicationId: row.applicationId, connectorId: row.id };
  const replaced = await replaceFetchedCosts(db, own, { from, to, rows }, { now, when });
  return { ...replaced, account: outcome.account, expiresAt: outcome.expiresAt };
}
