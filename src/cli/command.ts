import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** An error whose message is all that the person who ran the command needs. Any other error is a bug and is shown with its stack. */
export class CommandError extends Error {
  readonly exitCode: number = 1;
}

/** Wrong arguments. The message is one line, and the exit code 2. */
export class UsageError extends CommandError {
  override readonly exitCode = 2;
}

type Command<Options extends ParseArgsOptionsConfig> = {
  /** What `--help` prints. */
  usage: string;
  options: Options;
  /** The names of the arguments without an option; none by default. */
  positionals?: readonly string[];
  /** Whether the message of any error is all that the person needs. */
  showsErrors?: true;
};

/** Refuses a deployment's URL that is none, or that `remote` lacks. */
export function checkUrl(url: string | undefined, remote = false): void {
  if (remote && !url) throw new UsageError('--remote needs --url, the URL of the deployment.');
  if (url && !URL.canParse(url)) throw new UsageError(`--url must be a URL, not "${url}".`);
}

const parse = <Options extends ParseArgsOptionsConfig>(options: Options) =>
  parseArgs({ options, allowPositionals: true });

/**
 * Runs a command with its parsed arguments. `--help` prints the usage instead. Wrong arguments and a `CommandError` end it with one message
 * and an exit code other than 0; a number that `work` returns is the exit code.
 */
export async function runCommand<const Options extends ParseArgsOptionsConfig>(
  { usage, options, positionals = [], showsErrors }: Command<Options>,
  work: (given: ReturnType<typeof parse<Options>>) => Promise<unknown>,
): Promise<void> {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    console.log(usage);
    return;
  }
  try {
    const given = readArguments(options, positionals);
    const code = await work(given);
    process.exitCode = typeof code === 'number' ? code : 0;
  } catch (error) {
    if (!(error instanceof CommandError) && !(showsErrors && error instanceof Error)) throw error;
    const more = error instanceof UsageError ? ' Pass --help for the usage.' : '';
    console.error(`${error.message}${more}`);
    process.exitCode = error instanceof CommandError ? error.exitCode : 1;
  }
}

function readArguments<Options extends ParseArgsOptionsConfig>(
  options: Options,
  positionals: readonly string[],
) {
  let given: ReturnType<typeof parse<Options>>;
  try {
    given = parse(options);
  } catch (error) {
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\.\s|\n/);
    throw new UsageError(`${sentence.replace(/\.$/, '')}.`);
  }
  const extra = given.positionals[positionals.length];
  if (extra !== undefined) throw new UsageError(`Unexpected argument "${extra}".`);
  return given;
}
