import { UsageError } from '../../src/cli/command.ts';

/** A whole number of at least 1 given as an option; throws an error that names the option otherwise. */
export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) {
    throw new UsageError(`--${option} must be a whole number of at least 1, not "${text}".`);
  }
  return count;
}
