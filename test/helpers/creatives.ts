import { env } from 'cloudflare:workers';
import type { Tenant } from './tenant.ts';
import type { TestWorker } from './worker.ts';

export type CreativeAnswer = {
  message: string;
  creative: { name: string; tracking_link: string };
  campaign: { name: string; is_new: boolean };
  adset: { name: string; is_new: boolean };
  application: { name: string };
};

export const postCreative = (
  worker: TestWorker,
  tenant: Pick<Tenant, 'teamToken'>,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  worker.request('/v1/creatives', {
    method: 'POST',
    headers: { 'Service-Token': tenant.teamToken, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** A creative by the public way; answers its id and the path of its link. */
export async function createCreative(
  worker: TestWorker,
  tenant: Tenant,
  names: {
    creative?: string;
    campaign?: string;
    adset?: string;
    external_ids?: { network: string; id: string }[];
  } = {},
) {
  const response = await postCreative(worker, tenant, {
    creative: 'Creative',
    app_api_key: tenant.apiKey,
    ...names,
  });
  const answer: CreativeAnswer = await response.json();
  if (response.status !== 201) throw new Error(JSON.stringify(answer));
  const path = new URL(answer.creative.tracking_link).pathname;
  const list = await worker.team(tenant, `/v1/creatives?application_id=${tenant.application.id}&limit=200`);
  const { data }: { data: { id: string; tracking_link: string }[] } = await list.json();
  const id = data.find(({ tracking_link }) => tracking_link === answer.creative.tracking_link)?.id;
  if (!id) throw new Error('the creative is not in the list');
  return { id, path, token: path.slice(path.lastIndexOf('/') + 1), answer };
}

/** Adds so many creatives to the application's ad set. */
export const addCreatives = ({ application }: Tenant, count: number) =>
  env.DB.prepare(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
     INSERT INTO creatives (id, application_id, adset_id, name, token, created_at)
     SELECT substr(id, 1, 24) || printf('%012x', n), application_id, adset_id, 'Creative ' || n, token || n, n
     FROM (SELECT * FROM creatives WHERE application_id = ?1 LIMIT 1), numbers`,
  )
    .bind(application.id, count)
    .run();
