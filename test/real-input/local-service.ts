import { readFile } from 'node:fs/promises';
import cliProgress from 'cli-progress';
import { localState } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';

// What the checks on real input share: calls of the running local service.

/** The largest number of items in a request of each kind. */
const [DEVICES, EVENTS] = [200, 500];

/** A device by its id, acquired on a day, with its events but for their token. */
type Device = { id: string; acquired: string; events: readonly Record<string, unknown>[] };

/** The running local service: `ask` calls the team API. */
export async function localService() {
  const demo: Demo = JSON.parse(await readFile(localState().demoFile, 'utf8'));
  const team = { [`${demo.service_name}-Token`]: demo.team_token };
  const ask = <Answer>(path: string, body?: unknown) => call<Answer>(`${demo.base_url}${path}`, team, body);
  return {
    ask,
    /** Sends devices and their events to a new application; returns its id. Throws if anything is rejected. */
    send: async (name: string, devices: readonly Device[]): Promise<string> => {
      const application = await ask<{ id: string; api_key: string }>('/v1/applications', { name });
      const key = { [`${demo.service_name}-api-key`]: application.api_key };
      await sendDevices(demo.base_url, key, name, devices);
      return application.id;
    },
  };
}

async function sendDevices(
  url: string,
  key: Record<string, string>,
  name: string,
  devices: readonly Device[],
): Promise<void> {
  const bar = new cliProgress.SingleBar({ format: `${name} {bar} {value}/{total} | {eta_formatted} left` });
  bar.start(devices.length, 0);
  const events: object[] = [];
  await inParallel(partsOf(devices, DEVICES), async (part) => {
    const body = part.map(({ id, acquired }) => ({
      type: 'device-metrics',
      created_at: `${acquired}T09:00:00.000Z`,
      data: {
        device_name: id,
        device_model: 'unknown',
        os_system: 'unknown',
        timezone: 'UTC',
        device_id: id,
      },
    }));
    const { results } = await call<{ results: { token: string }[] }>(`${url}/fetch-token/batch`, key, {
      devices: body,
    });
    for (const [index, { token: creativeToken }] of results.entries()) {
      for (const event of part[index]?.events ?? []) events.push({ ...event, creativeToken });
    }
    bar.increment(part.length);
  });
  bar.stop();
  await inParallel(partsOf(events, EVENTS), async (batch) => {
    const { rejected } = await call<{ rejected: number }>(`${url}/webhook/batch`, key, { events: batch });
    if (rejected > 0) throw new Error(`${rejected} events of a batch were rejected`);
  });
}

const WAITS = 240;

/** Reads until the answer is as wanted: the last events may still be on their way through the queue, which delivers within seconds. */
export async function until<Answer>(
  read: () => Promise<Answer>,
  isWanted: (answer: Answer) => boolean,
): Promise<Answer> {
  let answer = await read();
  for (let wait = 0; wait < WAITS && !isWanted(answer); wait++) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    answer = await read();
  }
  return answer;
}

const CONCURRENCY = 6;

/** A GET, or a POST if there is a body. Throws unless the service answers with success. */
async function call<Answer>(url: string, headers: Record<string, string>, body?: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

const partsOf = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
