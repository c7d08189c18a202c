import { env } from 'cloudflare:workers';
import { counterOf } from '#counting';
import service from '../../src/index.ts';
import { exportAll } from '../helpers/backup.ts';
import { IPHONE_METRICS } from '../helpers/clicks.ts';
import { eventsInFiles } from '../helpers/lake.ts';
import { settleAll } from '../helpers/settle.ts';
import { answerFetch } from '../helpers/strict-fetch.ts';
import type { Tenant } from '../helpers/tenant.ts';
import { fetchToken, type TestWorker } from '../helpers/worker.ts';

export const APPLE_TOKEN = 'YXBwbGUgdG9rZW4='.repeat(20);
/** As in Apple's documentation. */
export const APPLE_AD = {
  attribution: true,
  orgId: 40669820,
  campaignId: 542370539,
  conversionType: 'Download',
  clickDate: '2026-03-01T17:15Z',
  claimType: 'Click',
  adGroupId: 542317095,
  countryOrRegion: 'US',
  keywordId: 87675432,
  adId: 542317136,
};
export const STORED_AD = {
  org_id: '40669820',
  campaign_id: '542370539',
  ad_group_id: '542317095',
  ad_id: '542317136',
  keyword_id: '87675432',
  country_or_region: 'US',
  conversion_type: 'Download',
  claim_type: 'Click',
  click_date: '2026-03-01T17:15Z',
};

type Answer = 'timeout' | number | object;

/** A stand-in for Apple, which gives these answers in turn, the last of them for ever. Anything else is not fetched. */
export function appleAnswers(...answers: Answer[]) {
  const asked: { token: string; type: string | null; method: string | undefined }[] = [];
  answerFetch(async (url, init) => {
    if (String(url) !== 'https://api-adservices.apple.com/api/v1/') throw new Error(`fetched ${String(url)}`);
    const type = new Headers(init?.headers as HeadersInit).get('Content-Type');
    asked.push({ token: String(init?.body), type, method: init?.method });
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 500;
    if (answer === 'timeout') throw new DOMException('The operation timed out', 'TimeoutError');
    return typeof answer === 'number' ? new Response('', { status: answer }) : Response.json(answer);
  });
  return asked;
}

type Sent = { id: string; body: unknown };

/** The messages among these that ask to settle a credit. */
export const creditsIn = (messages: readonly Sent[]) =>
  messages.filter(({ body }) => typeof body === 'object' && body !== null && 'open_credit' in body);

/** Delivers messages until none comes back, as the queue does. Returns after how many seconds each came back. */
export async function deliverAll(worker: TestWorker, messages: readonly Sent[]): Promise<number[]> {
  const delays: number[] = [];
  let waiting = [...messages];
  for (let attempts = 1; waiting.length > 0; attempts++) {
    if (attempts > 10) throw new Error('The messages are never acknowledged');
    const back = new Set<Sent>();
    const delivered = waiting.map((one) => ({
      ...{ ...one, attempts, timestamp: new Date(), ack: () => undefined },
      retry: ({ delaySeconds = 0 }: QueueRetryOptions = {}) => {
        delays.push(delaySeconds);
        back.add(one);
      },
    }));
    const batch = { queue: 'attribution-events', messages: delivered };
    await service.queue(batch as unknown as MessageBatch, worker.bindings);
    waiting = [...back];
  }
  return delays;
}

/** A new iPhone with an AdServices token. */
export const fetchIphone = (worker: TestWorker, tenant: Tenant, data: object = {}, dev = false) =>
  fetchToken(worker, tenant, { dev, data: { ...IPHONE_METRICS, adservices_token: APPLE_TOKEN, ...data } });

export async function attributionOf(worker: TestWorker, tenant: Tenant, token: string) {
  const answer = await worker.team(tenant, `/v1/devices/${token}/attribution`);
  return answer.json<Record<string, unknown>>();
}

const today = () => new Date().toISOString().slice(0, 10);

/** The rows of the performance report of today. */
export async function performanceBy(worker: TestWorker, tenant: Tenant, group: 'creative' | 'network') {
  await settleAll(tenant.application.id);
  const { id } = tenant.application;
  const path = `/v1/reports/performance?application_id=${id}&from=${today()}&to=${today()}&group_by=${group}`;
  const { data } = await (await worker.team(tenant, path)).json<{ data: Record<string, unknown>[] }>();
  return data.filter(({ installs, events, purchases }) => installs || events || purchases);
}

/** What the raw event files have of the application's devices. */
export async function rawEvents(tenant: Tenant) {
  const { id } = tenant.application;
  await settleAll(id);
  await exportAll(id, 1);
  const { files } = await counterOf(env, id, 0).listFiles({}, { before: null, after: null });
  const events = await eventsInFiles(files);
  return events
    .filter((event) => 'device_id' in event)
    .map((event) => ({
      type: event.type,
      creative: event.creative_id,
      network: (event as { network?: string }).network,
      ...(event.type === 'install' ? { method: event.attribution_method } : {}),
    }));
}
