import type { Tenant } from './tenant.ts';
import type { TestWorker } from './worker.ts';

type Credentials = Pick<Tenant, 'application' | 'teamToken'>;

/** A row of ad spend as `PUT /v1/costs` takes it; in US dollars unless it says otherwise. */
export type CostRow = {
  date: string;
  campaign: string;
  adset?: string;
  creative?: string;
  country?: string;
  os?: string;
  network?: string;
  currency?: string;
  amount: number;
  impressions?: number;
  clicks?: number;
};

async function put(worker: TestWorker, tenant: Credentials, path: string, body: object): Promise<void> {
  const answer = await worker.team(tenant, path, { method: 'PUT', body });
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
}

/** Uploads ad spend of the tenant's application. */
export const putCosts = (worker: TestWorker, tenant: Credentials, rows: readonly CostRow[]) =>
  put(worker, tenant, '/v1/costs', {
    application_id: tenant.application.id,
    rows: rows.map((row) => ({ currency: 'usd', ...row })),
  });

/** Uploads a day's exchange rates: what one unit of each currency is worth in `base`. */
export const putRates = (
  worker: TestWorker,
  tenant: Credentials,
  date: string,
  rates: Record<string, number | string>,
  base = 'usd',
) => put(worker, tenant, '/v1/exchange-rates', { date, base, rates });
