import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import cliProgress from 'cli-progress';
import { localState } from '../../src/cli/local-state.ts';
import type { Demo } from '../../src/cli/seed-demo.ts';
import { call, inParallel, partsOf } from './local-service.ts';

// Real input, end to end: the players of the published Cookie Cats A/B test (userid, version, sum_gamerounds, retention_1,
// retention_7) go through /fetch-token/batch and /webhook/batch of the running local service, one application a group. Afterwards
// the retention report must hold exactly what counting the file gives.
//
//   npm run verify:cookie-cats -- path/to/cookie_cats.csv

const ACQUIRED = '2026-01-10';
const RETURNS = { 1: '2026-01-11', 7: '2026-01-17' } as const;
/** The largest number of rows in a request of each kind. */
const DEVICES = 200;
const EVENTS = 500;

type Player = { id: string; group: string; day1: boolean; day7: boolean };

async function readPlayers(file: string): Promise<Player[]> {
  const players: Player[] = [];
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [id = '', group = '', , day1, day7] = line.trim().split(',');
    if (id !== '' && id !== 'userid')
      players.push({ id, group, day1: day1 === 'TRUE', day7: day7 === 'TRUE' });
  }
  return players;
}

const retention = (creativeToken: string, day: string, dayNumber: number) => ({
  type: 'retention',
  created_at: `${day} 12:00:00`,
  creativeToken,
  payload: { retentionDay: String(dayNumber), backfillDay: '0' },
});

async function send(demo: Demo, group: string, players: Player[]): Promise<string> {
  const team = { [`${demo.service_name}-Token`]: demo.team_token };
  const name = `Cookie Cats ${group}`;
  const created = await call<{ id: string; api_key: string }>(`${demo.base_url}/v1/applications`, team, {
    name,
  });
  const key = { [`${demo.service_name}-api-key`]: created.api_key };
  const bar = new cliProgress.SingleBar({
    format: `${group} {bar} {value}/{total} players | {eta_formatted} left`,
  });
  bar.start(players.length, 0);
  const events: ReturnType<typeof retention>[] = [];
  await inParallel(partsOf(players, DEVICES), async (part) => {
    const devices = part.map(({ id }) => ({
      type: 'device-metrics',
      created_at: `${ACQUIRED}T12:00:00.000Z`,
      data: {
        device_name: `Player ${id}`,
        device_model: 'unknown',
        os_system: 'unknown',
        timezone: 'UTC',
        device_id: id,
      },
    }));
    const { results } = await call<{ results: { token: string }[] }>(
      `${demo.base_url}/fetch-token/batch`,
      key,
      { devices },
    );
    for (const [index, { token }] of results.entries()) {
      if (part[index]?.day1) events.push(retention(token, RETURNS[1], 1));
      if (part[index]?.day7) events.push(retention(token, RETURNS[7], 7));
    }
    bar.increment(part.length);
  });
  bar.stop();
  await inParallel(partsOf(events, EVENTS), async (batch) => {
    const answer = await call<{ rejected: number }>(`${demo.base_url}/webhook/batch`, key, { events: batch });
    if (answer.rejected > 0) throw new Error(`${answer.rejected} events of a batch were rejected`);
  });
  return created.id;
}

type Counts = { size: number; day1: number; day7: number };

async function reported(demo: Demo, applicationId: string): Promise<Counts> {
  const query = `application_id=${applicationId}&from=${ACQUIRED}&to=${ACQUIRED}&days=1,7`;
  const report = await call<{ data: { size: number; days: Record<string, { active: number }> }[] }>(
    `${demo.base_url}/v1/reports/retention?${query}`,
    { [`${demo.service_name}-Token`]: demo.team_token },
  );
  const [row] = report.data;
  return { size: row?.size ?? 0, day1: row?.days['1']?.active ?? 0, day7: row?.days['7']?.active ?? 0 };
}

function countFile(players: Player[]): Counts {
  return {
    size: players.length,
    day1: players.filter((player) => player.day1).length,
    day7: players.filter((player) => player.day7).length,
  };
}

const describe = ({ size, day1, day7 }: Counts) =>
  `${size} players, day 1 ${((100 * day1) / size).toFixed(2)} %, day 7 ${((100 * day7) / size).toFixed(2)} %`;

async function main(file: string): Promise<boolean> {
  const demo: Demo = JSON.parse(await readFile(localState().demoFile, 'utf8'));
  const players = await readPlayers(file);
  const startedAt = Date.now();
  let allEqual = true;
  for (const group of [...new Set(players.map((player) => player.group))].sort()) {
    const members = players.filter((player) => player.group === group);
    const expected = countFile(members);
    const applicationId = await send(demo, group, members);
    let got = await reported(demo, applicationId);
    // The last events may still be on their way through the queue, which delivers within seconds.
    for (let wait = 0; wait < 120 && JSON.stringify(got) !== JSON.stringify(expected); wait++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      got = await reported(demo, applicationId);
    }
    const equal = JSON.stringify(got) === JSON.stringify(expected);
    allEqual &&= equal;
    console.log(`${group}: file ${describe(expected)}\n${' '.repeat(group.length)}  report ${describe(got)}`);
    console.log(equal ? 'exactly equal' : 'NOT EQUAL');
  }
  console.log(`${Math.round((Date.now() - startedAt) / 1000)} s for ${players.length} players`);
  return allEqual;
}

const [file] = process.argv.slice(2);
if (!file) {
  console.error(
    'Usage: npm run verify:cookie-cats -- path/to/cookie_cats.csv   (while npm start is running)',
  );
  process.exit(2);
}
process.exitCode = (await main(file)) ? 0 : 1;
