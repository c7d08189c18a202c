/** An error whose message is all that the person who ran the command needs. Any other error is a bug and is shown with its stack. */
export class CommandError extends Error {}

/** Runs a command. A `CommandError` ends it with its message and exit code 1. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
