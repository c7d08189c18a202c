import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { runCommand, UsageError } from '../../src/cli/command.ts';
import { localService, until } from './local-service.ts';

// Real input, end to end: the players of the published Cookie Cats A/B test (userid, version, sum_gamerounds, retention_1,
// retention_7) go through /fetch-token/batch and /webhook/batch of the running local service, one application a group. Afterwards
// the retention report must hold exactly what counting the file gives.
//
//   npm run verify:cookie-cats -- path/to/cookie_cats.csv

const ACQUIRED = '2026-01-10';
const RETURNS = { 1: '2026-01-11', 7: '2026-01-17' } as const;

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

const retention = (day: string, dayNumber: number) => ({
  type: 'retention',
  created_at: `${day} 12:00:00`,
  payload: { retentionDay: String(dayNumber), backfillDay: '0' },
});

const devicesOf = (players: readonly Player[]) =>
  players.map(({ id, day1, day7 }) => ({
    id,
    acquired: ACQUIRED,
    events: [...(day1 ? [retention(RETURNS[1], 1)] : []), ...(day7 ? [retention(RETURNS[7], 7)] : [])],
  }));

type Counts = { size: number; day1: number; day7: number };

type Service = Awaited<ReturnType<typeof localService>>;

async function reported(service: Service, applicationId: string): Promise<Counts> {
  const query = `application_id=${applicationId}&from=${ACQUIRED}&to=${ACQUIRED}&days=1,7`;
  const report = await service.ask<{ data: { size: number; days: Record<string, { active: number }> }[] }>(
    `/v1/reports/retention?${query}`,
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
  const service = await localService();
  const players = await readPlayers(file);
  const startedAt = Date.now();
  let allEqual = true;
  for (const group of [...new Set(players.map((player) => player.group))].sort()) {
    const members = players.filter((player) => player.group === group);
    const expected = countFile(members);
    const applicationId = await service.send(`Cookie Cats ${group}`, devicesOf(members));
    const isEqual = (counts: Counts) => JSON.stringify(counts) === JSON.stringify(expected);
    const got = await until(() => reported(service, applicationId), isEqual);
    const equal = isEqual(got);
    allEqual &&= equal;
    console.log(`${group}: file ${describe(expected)}\n${' '.repeat(group.length)}  report ${describe(got)}`);
    console.log(equal ? 'exactly equal' : 'NOT EQUAL');
  }
  console.log(`${Math.round((Date.now() - startedAt) / 1000)} s for ${players.length} players`);
  return allEqual;
}

await runCommand(
  {
    usage: `Usage: npm run verify:cookie-cats -- path/to/cookie_cats.csv

Sends the players of the published Cookie Cats A/B test to the service that npm start runs, and compares the retention report with the file.`,
    options: {},
    positionals: ['file'],
  },
  async ({ positionals: [file] }) => {
    if (!file) throw new UsageError('Pass the file to send.');
    return (await main(file)) ? 0 : 1;
  },
);
