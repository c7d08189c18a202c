import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runScript } from '../../cli/process.ts';
import { type Service, startService } from '../../helpers/service.ts';
import { mapOf, SHELF, shelved, sumsOf, titleOf } from './shelf.ts';

// The shelf's files, imported into a running service by the command, and read back through the API.

let folder: string;
let service: Service;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'shelf-'));
  service = await startService();
}, 240_000);
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
}, 60_000);

async function ask<Body>(method: string, address: string, body?: object): Promise<Body> {
  const { base_url, service_name, team_token } = service.demo;
  const answer = await fetch(base_url + address, {
    method,
    headers: { [`${service_name}-Token`]: team_token, 'Content-Type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  expect(answer.status, address).toBeLessThan(300);
  return answer.json() as Promise<Body>;
}

type StoredEvent = { event_id: string; type: string; currency: string; value: number };
type Report = { counted_through: string | null; totals: { installs: number } };
type Page = { data: StoredEvent[]; next_cursor: string | null };

/** The installs of an application and the events that count, once none of them is on its way. */
async function countedOf(applicationId: string): Promise<{ installs: number; counted: StoredEvent[] }> {
  const now = Date.now();
  const report = `/v1/reports/performance?application_id=${applicationId}&from=2026-02-01&to=2026-04-30`;
  await expect
    .poll(() => ask<Report>('GET', report), { timeout: 60_000, interval: 300 })
    .toSatisfy(({ counted_through }: Report) => Date.parse(counted_through ?? '') >= now);
  const events: StoredEvent[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await ask(
      'GET',
      `/v1/events?application_id=${applicationId}&limit=200&cursor=${cursor}`,
    );
    for (const event of page.data) {
      const { status } = await ask<{ status: string }>('GET', `/v1/events/${event.event_id}`);
      if (status === 'counted') events.push(event);
    }
    cursor = page.next_cursor;
  }
  const { totals } = await ask<Report>('GET', report);
  return { installs: totals.installs, counted: events };
}

it.each(SHELF.map((entry, index) => [titleOf(entry), entry, index] as const))(
  'stores %s',
  async (_, entry, index) => {
    const application = await ask<{ id: string; api_key: string }>('POST', '/v1/applications', {
      name: `Shelf ${index}`,
    });
    const map = mapOf(entry);
    const columns = path.join(folder, `${index}.json`);
    if (map !== null) await writeFile(columns, map);
    const { devices, purchases, ads, events, sessions = 0, notTaken = {} } = entry.expected;
    let output = '';
    for (const name of entry.files) {
      const file = path.join(folder, name);
      await copyFile(shelved(name), file);
      const { base_url, service_name, team_token } = service.demo;
      const source = typeof entry.from === 'string' ? ['--from', entry.from] : ['--map', columns];
      const command = runScript('import.ts', {
        args: [file, ...source, '--url', base_url],
        env: { API_KEY: application.api_key, TEAM_TOKEN: team_token, SERVICE_NAME: service_name },
      });
      expect([0, 1], command.output()).toContain(await command.ended);
      output += command.output();
    }
    for (const reason of Object.keys(notTaken)) expect(output).toContain(reason);
    const { installs, counted } = await countedOf(application.id);
    const ofType = (type: string) => counted.filter((event) => event.type === type);
    expect({
      devices: installs,
      purchases: sumsOf(ofType('custom.purchase')),
      ads: sumsOf(ofType('custom.ad')),
      events: ofType('custom').length,
      sessions: ofType('retention').length,
    }).toEqual({ devices, purchases, ads, events, sessions });
  },
  120_000,
);
