import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CommandError, runCommand } from '../../src/cli/command.ts';
import { withLocalDatabase } from '../../src/cli/local-database.ts';
import { applyMigrations } from '../../src/cli/local-migrations.ts';
import { exists, ROOT } from '../../src/cli/local-state.ts';
import { type ApiDocument, factsOf, questionsIn } from './questions.ts';
import { bundleToday, call, keepWorker, runRelease } from './release.ts';
import { FIXTURES, hashesOf, RELEASED } from './released.ts';
import { BREAKPOINT, type CountryTotals, type StoredHistory } from './stores.ts';

// `npm run fixtures:stores`: runs this release over fresh stores on disk, sends it a small history, and writes the stores as SQL
// under test/upgrade/fixtures/<version>, where later releases find what they have to be able to open.

const DAY_MS = 86_400_000;
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

type Tenant = { applicationId: string; apiKey: string; teamToken: string; counter: string };

/** Sends the history in three parts, which are left exported, counted but not in D1, and waiting to be counted. */
async function sendHistory(address: URL): Promise<StoredHistory> {
  const control = <Answer>(action: string, counter = '') =>
    call<Answer>(new URL(`/control/${action}?counter=${counter}`, address));
  const tenant = await control<Tenant>('tenant');
  const { counter } = tenant;
  const post = <Answer>(route: string, body: unknown, headers: Record<string, string>) =>
    call<Answer>(new URL(route, address), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const ingest = <Answer>(route: string, body: unknown) =>
    post<Answer>(route, body, { 'service-api-key': tenant.apiKey });
  const { token: creativeToken } = await post<{ token: string }>(
    '/v1/creatives',
    { campaign: 'Spring', adset: 'Broad', creative: 'Video 1', app_api_key: tenant.apiKey },
    { 'Service-Token': tenant.teamToken },
  );

  const recognisable: Record<string, unknown>[] = [];
  const tokens: Record<string, string> = {};
  const totals = ['de', 'us'].map(
    (country): CountryTotals => ({
      country,
      installs: 0,
      sessions: 0,
      impressions: 0,
      ad_revenue: 0,
      purchases: 0,
      purchase_revenue: 0,
      events: 0,
    }),
  );

  for (const { country } of totals) {
    const data = {
      device_name: country === 'de' ? 'Pixel' : 'iPhone',
      device_model: country === 'de' ? 'Pixel 9' : 'iPhone17,1',
      os_system: country === 'de' ? 'Android 16' : 'iOS 26.0',
      timezone: 'UTC',
      device_id: `device-${country}`,
      country,
      ...(country === 'us' ? { creative_token: creativeToken } : {}),
    };
    const body = {
      type: 'device-metrics',
      created_at: `${dayAgo(3)}T08:00:00.000Z`,
      app_version: '1.4',
      data,
    };
    tokens[country] = (await ingest<{ token: string }>('/fetch-token', body)).token;
  }
  for (const row of totals) row.installs++;
  let rawEvents = totals.length;

  /** A session, an ad, a purchase and a custom event of each device. */
  async function sendPart(part: number): Promise<void> {
    for (const row of totals) {
      const own = { created_at: `${dayAgo(3 - part)} 12:00:00`, creativeToken: tokens[row.country] };
      const key = `${row.country}-${part}`;
      const price = 4.99 + part;
      const bodies = [
        { ...own, type: 'retention', payload: { retentionDay: part, session_id: key } },
        {
          ...own,
          type: 'custom.ad',
          eid: `ad-${key}`,
          payload: { ad_id: 'main', source: 'banner', media_source: 'admob', value: 0.25, currency: 'usd' },
        },
        {
          ...own,
          type: 'custom.purchase',
          app_version: '1.5',
          payload: {
            item_id: 'gold',
            value: price,
            currency: 'usd',
            status: 'completed',
            tr_id: `tr-${key}`,
          },
        },
        { ...own, type: 'custom', eid: `level-${key}`, payload: { event_name: 'level_up' } },
      ];
      await ingest('/webhook/batch', { events: bodies.slice(0, 2) });
      for (const body of bodies.slice(2)) await ingest('/webhook', body);
      // Without a key, only its message is recognised.
      await ingest('/webhook', { ...own, type: 'custom', payload: { event_name: 'tutorial' } });
      recognisable.push(...bodies);
      rawEvents += bodies.length + 1;
      row.sessions++;
      row.impressions++;
      row.ad_revenue += 0.25;
      row.purchases++;
      row.purchase_revenue = Number((row.purchase_revenue + price).toFixed(2));
      row.events += 2;
    }
  }

  await sendPart(0);
  await control('settle', counter);
  await control('export', counter);
  await sendPart(1);
  await control('hold', counter);
  await sendPart(2);
  return {
    written_at: new Date().toISOString(),
    api_key: tenant.apiKey,
    team_token: tenant.teamToken,
    application_id: tenant.applicationId,
    counter,
    from: dayAgo(3),
    to: dayAgo(0),
    tokens,
    recognisable,
    messages: await control('messages'),
    raw_events: rawEvents,
    totals,
  };
}

/** What the release answers about its stores, as JSON with a line per question. */
async function askEverything(address: URL, history: StoredHistory): Promise<string> {
  await call(new URL(`/control/settle?counter=${history.counter}`, address));
  const document = await call<ApiDocument>(new URL('/openapi.json', address));
  const lines: string[] = [];
  for (const question of questionsIn(document, factsOf(history))) {
    const answer = await fetch(new URL(question, address), {
      headers: { 'Service-Token': history.team_token },
    });
    const body: unknown = await answer.json();
    lines.push(`${JSON.stringify(question)}: ${JSON.stringify({ status: answer.status, body })}`);
  }
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** Statements that make the tables of a SQLite file with their rows, without those that belong to the runtime. */
function dump(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const objects = db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'")
    .all()
    .filter(({ name }) => !/^(_cf_|__miniflare)/.test(String(name)));
  const statements = objects.flatMap(({ type, name, sql }) => {
    if (type !== 'table') return [String(sql)];
    const columns = db.prepare(`PRAGMA table_info("${name}")`).all();
    const literals = columns.map((column) => `quote("${column.name}")`).join(" || ', ' || ");
    const rows = db.prepare(`SELECT ${literals} AS literals FROM "${name}"`).all();
    return [String(sql), ...rows.map((row) => `INSERT INTO "${name}" VALUES (${row.literals})`)];
  });
  db.close();
  return statements;
}

/** The file below a folder that has this table. */
async function findStore(folder: string, table: string): Promise<string> {
  for await (const name of glob('**/*.sqlite', { cwd: folder })) {
    const file = path.join(folder, name);
    const db = new DatabaseSync(file, { readOnly: true });
    const found = db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table);
    db.close();
    if (found) return file;
  }
  throw new Error(`no store in ${folder} has the table ${table}`);
}

async function writeStores(target: string, directory: string): Promise<void> {
  await withLocalDatabase(directory, applyMigrations);
  const modules = await bundleToday(path.join(directory, 'modules'));
  const { history, bucket, rawFiles } = await runRelease(modules, directory, async (address) => ({
    history: await sendHistory(address),
    bucket: await call(new URL('/control/bucket', address)),
    rawFiles: await call(new URL('/control/raw-files', address)),
  }));
  const stores = path.join(directory, 'v3');
  await mkdir(target, { recursive: true });
  const d1 = dump(await findStore(path.join(stores, 'd1'), 'applications'));
  const counter = dump(await findStore(path.join(stores, 'do'), 'progress'));
  await writeFile(path.join(target, 'd1.sql'), `${d1.join(BREAKPOINT)}\n`);
  await writeFile(path.join(target, 'counter.sql'), `${counter.join(BREAKPOINT)}\n`);
  await writeFile(path.join(target, 'bucket.json'), `${JSON.stringify(bucket, null, 2)}\n`);
  await writeFile(path.join(target, 'raw-files.json'), `${JSON.stringify(rawFiles, null, 2)}\n`);
  await writeFile(path.join(target, 'history.json'), `${JSON.stringify(history, null, 2)}\n`);
  const answers = await runRelease(modules, directory, (address) => askEverything(address, history));
  await writeFile(path.join(target, 'answers.json'), answers);
  await keepWorker(target);
}

/** Adds the hashes of a release's files to those that `test/architecture/released-stores.test.ts` compares. */
async function freeze(version: string): Promise<void> {
  const released: Record<string, string> = JSON.parse(await readFile(RELEASED, 'utf8'));
  for (const [name, hash] of await hashesOf(version)) released[name] = hash;
  await writeFile(RELEASED, `${JSON.stringify(released, null, 2)}\n`);
}

const USAGE = `Usage: npm run fixtures:stores

Writes the stores of this release as SQL, once, for the test that upgrades them, and lists the hashes of the files.`;

await runCommand({ usage: USAGE, options: {} }, async () => {
  const { version }: { version: string } = JSON.parse(
    await readFile(path.join(ROOT, 'package.json'), 'utf8'),
  );
  const target = path.join(FIXTURES, version);
  if (await exists(target)) {
    throw new CommandError(
      `The stores of ${version} are written. They stay as they are: raise the version in package.json for a new release.`,
    );
  }
  const directory = await mkdtemp(path.join(tmpdir(), 'attribution-stores-'));
  try {
    await writeStores(target, directory);
    await freeze(version);
    console.log(`Wrote the stores of ${version} to ${path.relative(ROOT, target)}.`);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
