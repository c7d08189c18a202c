import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { linesOf as run, runScript } from './process.ts';
import { startStandIn } from './stand-in.ts';

it.each([
  [['none.csv', '--from', 'branch'], '--from must be appsflyer or adjust, not "branch". --map reads others.'],
  [['none.csv', '--from', 'adjust', '--map', 'a.json'], 'Pass one of --from, --map and --archive.'],
  [['none.csv', '--from', 'adjust', '--archive'], 'Pass one of --from, --map and --archive.'],
  [['none.csv', '--timezone', 'UTC'], '--timezone and --organic need --from or --map.'],
  [
    ['none.csv', '--from', 'adjust', '--timezone', 'Berlin'],
    '--timezone must be an IANA time zone such as Europe/Berlin, not "Berlin".',
  ],
])('import refuses %j', async (args, message) => {
  expect(await run('import.ts', args)).toEqual({ code: 2, lines: [`${message} Pass --help for the usage.`] });
});

it('costs uploads a file as it is, and prints the faults of its lines', async () => {
  const service = await startStandIn();
  const folder = await mkdtemp(path.join(tmpdir(), 'costs-'));
  const file = path.join(folder, 'costs.csv');
  await writeFile(file, Uint8Array.of(0xff, 0xfe, 0x61, 0));
  const args = [file, '--url', service.target.url, '--application', 'app_1', '--spread'];
  const upload = async () => {
    const { ended, output } = runScript('costs.ts', { args, env: { TEAM_TOKEN: 'team' } });
    return { code: await ended, output: output().trim() };
  };
  service.intercept = () => ({ status: 200, body: { rows: 3, matched: 2, unmatched: 1 } });
  expect(await upload()).toEqual({
    code: 0,
    output: '3 rows stored; the names of 1 match no campaign, ad set or creative.',
  });
  expect(
    service.asked.map(({ path: where, headers, bytes }) => [where, headers['service-token'], [...bytes]]),
  ).toEqual([['/v1/costs/file?application_id=app_1&spread=true', 'team', [0xff, 0xfe, 0x61, 0]]]);
  const skipped = [{ line: 4, reason: 'is a total, which the rows add up to' }];
  const amounts = [{ currency: 'eur', amount: 12.5 }];
  service.intercept = () => ({ status: 200, body: { rows: 3, unmatched: 0, skipped, amounts } });
  args.push('--map', 'date=Päivä', '--map', 'amount=Summa');
  expect((await upload()).output.split('\n').slice(1)).toEqual([
    'Spend: 12.5 EUR',
    'Line 4 is a total, which the rows add up to; not stored.',
  ]);
  expect(new URL(`http://x${service.asked.at(-1)?.path}`).searchParams.getAll('map')).toEqual([
    ...['date=Päivä', 'amount=Summa'],
  ]);
  service.intercept = () => ({ status: 400, body: { message: 'Line 2: a; Line 3: b' } });
  expect(await upload()).toEqual({ code: 1, output: 'Nothing was stored (400): Line 2: a\nLine 3: b' });
  await service.stop();
  await rm(folder, { recursive: true });
});
