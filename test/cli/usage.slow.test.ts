import { describe, expect, it } from 'vitest';
import { linesOf as run } from './process.ts';

// Three processes a command, some of which load wrangler.

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
  [
    'capacity.ts',
    ['--batch', '0'],
    '--batch must be a number from 1, such as 1e9, not "0". Pass --help for the usage.',
  ],
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
