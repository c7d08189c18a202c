import { database } from '#db';
import { AppError, readAs } from '#http';
import { Costs, CostsQuery, CostsToDelete, deleteCosts, listCosts, namesText, saveCosts } from '#money';
import type { FormField } from '../../forms/field.tsx';
import { PostForm } from '../../forms/fields.tsx';
import { readForm, requireForm, type Submitted } from '../../forms/form.ts';
import { dayText } from '../../shell/dates.ts';
import { redirectDone } from '../../shell/done.ts';
import { callerOf } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, HiddenFields } from '../../shell/parts.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';
import { type Cost, keyOf } from './cost-ledger.tsx';

/** One stored row. Throws `not_found` if that day has no row with these names. */
async function findCost(c: DashboardContext, view: View, key: Record<string, string>): Promise<Cost> {
  const { date = '', campaign = '' } = key;
  const asked = { application_id: view.application.id, from: date, to: date, campaign, limit: 200 };
  const query = readAs(CostsQuery, asked);
  for (let cursor = ''; ; ) {
    const page = await listCosts(database(c.env.DB), view.application, { ...query, cursor });
    const found = page.data.find((row) =>
      Object.entries(keyOf(row)).every(([name, value]) => (key[name] ?? '') === value),
    );
    if (found) return found;
    if (page.next_cursor === null) throw new AppError('not_found', 'Costs not found');
    cursor = page.next_cursor;
  }
}

const FIELDS: readonly FormField[] = [
  { label: 'Amount', name: 'amount', required: true },
  { label: 'Currency', name: 'currency', required: true },
  { label: 'Impressions', name: 'impressions' },
  { label: 'Clicks', name: 'clicks' },
];

/** The form of one stored row. */
export async function costRowPage(
  c: DashboardContext,
  key: Record<string, string>,
  submitted: Submitted = {},
) {
  const view = await requireView(c);
  const row = await findCost(c, view, key);
  const faults = (submitted.faults ?? []).map((fault) => ({
    ...fault,
    path: fault.path.replace('rows.0.', ''),
  }));
  const values: Record<string, string> = submitted.values ?? {
    amount: String(row.amount),
    currency: row.currency.toUpperCase(),
    impressions: row.impressions === null ? '' : String(row.impressions),
    clicks: row.clicks === null ? '' : String(row.clicks),
  };
  return renderPage(
    c,
    {
      title: 'Costs of a day',
      within: <a href={`/costs${viewQuery(view)}#ledger`}>Costs</a>,
      view,
      tools: (
        <Action
          to={`/costs/row/delete${viewQuery(view)}`}
          label="Delete these costs"
          kind="danger"
          confirm={`Delete the costs of ${dayText(row.date, view.today)}, ${namesText(row)}?`}
          fields={keyOf(row)}
        />
      ),
    },
    <Card title={`${dayText(row.date, view.today)} · ${namesText(row)}`}>
      <PostForm
        to={`/costs/row${viewQuery(view)}`}
        button="Save"
        fields={FIELDS}
        values={values}
        faults={faults}
      >
        <HiddenFields fields={Object.entries(keyOf(row))} />
      </PostForm>
    </Card>,
  );
}

/** Stores the submitted form of a row. */
export async function saveCostRow(c: DashboardContext) {
  const view = await requireView(c);
  await findCost(c, view, await readForm(c));
  const data = await requireForm(c, Costs, ({ amount = '', ...row }) => ({
    application_id: view.application.id,
    rows: [{ ...row, amount: amount.trim() && Number.isFinite(Number(amount)) ? Number(amount) : amount }],
  }));
  await saveCosts(callerOf(c), view.application, data.rows, { corrects: true });
  return redirectDone(c, `/costs${viewQuery(view)}`, 'saved');
}

export async function deleteCostRow(c: DashboardContext) {
  const view = await requireView(c);
  const data = await requireForm(c, CostsToDelete, (key) => ({
    application_id: view.application.id,
    rows: [key],
  }));
  await deleteCosts(callerOf(c), view.application, data);
  return redirectDone(c, `/costs${viewQuery(view)}`, 'deleted');
}
