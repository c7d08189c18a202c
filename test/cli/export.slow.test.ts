import { copyFile, cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withLocalDatabase } from '../../src/cli/local-database.ts';
import { ROOT } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { compactParts, parkStatements, placesToCompact, replaceParts } from '../../src/rollup/index.ts';
import { Additions } from '../../src/rollup/tables.ts';
import { addRun } from '../helpers/add-run.ts';
import { seededRandom } from '../helpers/random.ts';
import { freePort } from '../helpers/service.ts';
import { ingestAt } from './ingest.ts';
import { runCommand, runScript, stop } from './process.ts';

// The commands of "Export the database and import it again" in docs/operations.md, with the longest rows that the service writes. The folder is
// where they are run: its `.wrangler/state` is the service's.

/** Source: https://developers.cloudflare.com/d1/platform/limits/, "Maximum SQL statement length". */
const MAX_STATEMENT_BYTES = 100_000;
const DAY = '2026-03-02';

let folder: string;
let state: string;
let imported: string;
let demo: Demo;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'export-'));
  state = path.join(folder, '.wrangler/state');
  imported = path.join(folder, '.wrangler/imported');
  await copyFile(path.join(ROOT, 'wrangler.toml'), path.join(folder, 'wrangler.toml'));
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the service on a state directory until `work` ends. */
async function whileServing<Result>(
  stateDir: string,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const port = await freePort();
  const service = runScript('start.ts', { env: { PORT: String(port), STATE_DIR: stateDir } });
  await service.until('Stop with Ctrl-C');
  try {
    demo = JSON.parse(await readFile(path.join(state, 'demo.json'), 'utf8'));
    return await work(`http://localhost:${port}`);
  } finally {
    await stop(service);
  }
}

/** A name of 256 characters, most of which take more than a byte in JSON or in SQL. */
const nameOf = (number: number) => `${number} ${`'"\\n\\😀ä`.repeat(40)}`.slice(0, 256).toWellFormed();

/** Sends ad views of many placements, and waits until they are counted. */
async function send(url: string): Promise<void> {
  const post = ingestAt(url, demo.api_key ?? '');
  const { token } = (await post('/fetch-token', {
    type: 'device-metrics',
    created_at: `${DAY}T10:00:00.000Z`,
    data: { device_name: 'a', device_model: 'b', os_system: 'c', timezone: 'UTC' },
  })) as { token: string };
  const events = Array.from({ length: 100 }, (_, at) => ({
    type: 'custom.ad',
    created_at: `${DAY} 10:00:00`,
    creativeToken: token,
    payload: {
      ad_id: nameOf(at),
      source: nameOf(1_000 + at),
      media_source: nameOf(2_000 + at),
      value: 0.01,
      currency: 'usd',
    },
  }));
  await post('/webhook/batch', { events });
  await expect
    .poll(async () => (await readReport(url, 'performance')).totals?.impressions, {
      timeout: 30_000,
      interval: 200,
    })
    .toBe(100);
}

type Report = { data: unknown[]; totals?: { impressions: number } };

async function readReport(url: string, name: string, more = ''): Promise<Report> {
  const query = `application_id=${demo.application.id}&from=${DAY}&to=${DAY}${more}`;
  const answer = await fetch(`${url}/v1/reports/${name}?${query}`, {
    headers: { 'Service-Token': demo.team_token },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Report;
}

/** What the API answers about what was stored. */
async function readAll(url: string) {
  const parked = await fetch(`${url}/v1/parked`, { headers: { 'Service-Token': demo.team_token } });
  const { data } = (await parked.json()) as { data: unknown[] };
  const reports = [
    await readReport(url, 'performance', '&group_by=creative'),
    await readReport(url, 'performance', '&group_by=country'),
    await readReport(url, 'ads'),
    await readReport(url, 'ads', '&group_by=creative'),
  ];
  expect(reports.map(({ data }) => data.length)).not.toContain(0);
  return { parked: data, reports: reports.map(({ data, totals }) => ({ data, totals })) };
}

/** Adds compacted parts, and parks messages near the queue's limit. */
async function addLongRows(db: D1Database): Promise<void> {
  const applicationId = demo.application.id;
  const owner = { applicationId, shard: 1 };
  const random = seededRandom(1);
  for (let sequence = 1; sequence <= 16; sequence++) {
    const additions = new Additions('rollup_ads');
    for (let number = 0; number < 30; number++) {
      const names = { source: nameOf(number), media_source: nameOf(number * sequence), placement: nameOf(7) };
      const key = {
        application_id: applicationId,
        day: DAY,
        creative_id: `crt_${number}`,
        currency: 'usd',
        ...names,
      };
      for (let segment = 1; segment <= 120; segment++)
        // Amounts that hardly compress, for parts of the largest size.
        additions.add(key, segment, { impressions: 1, ad_revenue: Math.floor(random() * 2 ** 50) });
    }
    await addRun(db, { ...owner, sequence }, additions);
  }
  const due = await placesToCompact(db, owner);
  expect(due.length).toBeGreaterThan(2);
  for (const [index, place] of due.entries()) {
    const compacted = await compactParts(db, owner, place);
    expect(compacted.parts.length).toBeGreaterThan(0);
    await db.batch(replaceParts(db, { ...owner, sequence: 100 + index }, compacted, Date.now()));
  }
  const bodies = [`'"`, '😀', "\\n'", 'ä\n'].map((text) => {
    // The queue accepts 128 KB.
    const times = Math.floor(127_000 / Buffer.byteLength(JSON.stringify(text).slice(1, -1)));
    return JSON.stringify({ v: 1, events: [{ application_id: applicationId, text: text.repeat(times) }] });
  });
  const parked = bodies.map((body, at) => ({ id: `prk_${at}`, applicationId, body, reason: body }));
  await db.batch(parkStatements(db, parked, Date.now()));
}

/** The schema, and the rows of every table. */
async function readDatabase(db: D1Database): Promise<Map<string, string[]>> {
  const { results } = await db
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*' ORDER BY name",
    )
    .all<{ type: string; name: string; sql: string }>();
  const found = new Map([['', results.map((row) => JSON.stringify(row))]]);
  for (const { name } of results.filter(({ type }) => type === 'table')) {
    const rows = await db.prepare(`SELECT * FROM "${name}"`).raw();
    found.set(name, rows.map((row) => JSON.stringify(row)).sort());
  }
  return found;
}

/** The section's last commands, which need no account. */
async function readCommands(): Promise<string> {
  const page = await readFile(path.join(ROOT, 'docs/operations.md'), 'utf8');
  const [, section = ''] = page.split('## Export the database and import it again\n');
  const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)];
  return blocks.at(-1)?.[1] ?? '';
}

it('imports its own export: the same rows, and the same reports', async () => {
  const before = await whileServing(state, async (url) => {
    await send(url);
    await withLocalDatabase(state, addLongRows);
    return readAll(url);
  });
  const stored = await withLocalDatabase(state, readDatabase);

  const commands = runCommand('bash', ['-euo', 'pipefail', '-c', await readCommands()], { cwd: folder });
  expect(await commands.ended, commands.output()).toBe(0);

  const lines = (await readFile(path.join(folder, 'attribution.sql'), 'utf8')).split('\n');
  const sizes = (table: string) =>
    lines.filter((line) => line.startsWith(`INSERT INTO "${table}"`)).map((line) => Buffer.byteLength(line));
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(MAX_STATEMENT_BYTES);
  // A message is in both tables of parked ones: its beginning, and what does not fit into one value.
  const least = { cube_parts: 60_000, parked_messages: 60_000, parked_chunks: 30_000 };
  for (const [table, bytes] of Object.entries(least)) {
    expect(Math.max(...sizes(table)), table).toBeGreaterThan(bytes);
  }
  const copied = await withLocalDatabase(imported, readDatabase);
  expect([...copied.keys()]).toEqual([...stored.keys()]);
  for (const [table, rows] of stored) expect(copied.get(table), table).toEqual(rows);

  // The new database with the counters of the old one.
  for (const part of ['v3/do', 'v3/r2', 'secrets.env', 'demo.json']) {
    await cp(path.join(state, part), path.join(imported, part), { recursive: true });
  }
  expect(await whileServing(imported, readAll)).toEqual(before);
}, 240_000);
