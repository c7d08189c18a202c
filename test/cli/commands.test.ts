import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runScript } from './process.ts';
import { startStandIn } from './stand-in.ts';

async function run(script: string, args: string[]): Promise<{ code: number | null; lines: string[] }> {
  const { ended, output } = runScript(script, { args });
  const code = await ended;
  return { code, lines: output().trim().split('\n') };
}

describe.each([
  ['start.ts', ['extra'], 'Unexpected argument "extra". Pass --help for the usage.'],
  ['costs.ts', [], 'Pass the file to upload. Pass --help for the usage.'],
  ['import.ts', [], 'Pass the file to import. Pass --help for the usage.'],
  [
    'simulate.ts',
    ['--days', '0'],
    '--days must be a whole number from 1 to 365, not "0". Pass --help for the usage.',
  ],
  ['org.ts', ['remove'], 'There is no command "remove". Pass --help for the usage.'],
  ['password-reset.ts', ['nobody'], 'Pass the email of one member. Pass --help for the usage.'],
  ['restore.ts', [], 'Pass --from with a folder or the name of a bucket. Pass --help for the usage.'],
  ['build.ts', ['extra'], 'Unexpected argument "extra". Pass --help for the usage.'],
  ['docs/metrics.ts', ['extra'], 'Unexpected argument "extra". Pass --help for the usage.'],
  ['docs/networks.ts', ['extra'], 'Unexpected argument "extra". Pass --help for the usage.'],
  [
    '../../test/chaos/run.ts',
    ['--seconds', 'many'],
    '--seconds must be a whole number of at least 1, not "many". Pass --help for the usage.',
  ],
  [
    '../../test/bench/run.ts',
    ['--rounds', '0'],
    '--rounds must be a whole number of at least 1, not "0". Pass --help for the usage.',
  ],
  [
    '../../test/bench/month.ts',
    ['--events', '1.5'],
    '--events must be a whole number of at least 1, not "1.5". Pass --help for the usage.',
  ],
  [
    '../../test/bench/peer/run.ts',
    ['--rounds', '-'],
    '--rounds must be a whole number of at least 1, not "-". Pass --help for the usage.',
  ],
  ['../../test/real-input/cdnow.ts', [], 'Pass the file to send. Pass --help for the usage.'],
  ['../../test/real-input/cookie-cats.ts', [], 'Pass the file to send. Pass --help for the usage.'],
  [
    '../../test/upgrade/write-stores.ts',
    ['extra'],
    'Unexpected argument "extra". Pass --help for the usage.',
  ],
])('%s', (script, wrong, message) => {
  it('prints its usage, and refuses wrong arguments in one line', async () => {
    const help = await run(script, ['--help']);
    expect([help.code, help.lines[0]]).toEqual([0, expect.stringMatching(/^Usage: npm /)]);
    expect(await run(script, wrong)).toEqual({ code: 2, lines: [message] });
    const unknown = await run(script, ['--nonsense']);
    expect(unknown).toEqual({
      code: 2,
      lines: ["Unknown option '--nonsense'. Pass --help for the usage."],
    });
  });
});

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
