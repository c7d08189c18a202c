import { readFile, rename, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseEnv } from 'node:util';
import { Decrypter, Encrypter } from 'age-encryption';
import { CommandError } from '../command.ts';
import { exists } from '../local-state.ts';

const MIN_PASSPHRASE = 12;
const FIRST_LINE = 'age-encryption.org/v1\n';

/** The passphrase of a copy: ORG_PASSPHRASE, or asked for on the terminal, twice if it is a new one. Never an argument, which others could see. */
async function readPassphrase(file: string, isNew: boolean): Promise<string> {
  const given = process.env.ORG_PASSPHRASE ?? (await ask(`Passphrase of ${file}: `));
  if (!isNew) return given;
  if (given.length < MIN_PASSPHRASE) {
    throw new CommandError(`The passphrase must have at least ${MIN_PASSPHRASE} characters.`);
  }
  if (process.env.ORG_PASSPHRASE === undefined && (await ask('The same again: ')) !== given) {
    throw new CommandError('The passphrases differ.');
  }
  return given;
}

/** Reads a line from the terminal without showing it. */
async function ask(question: string): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new CommandError(
      'Cannot ask for the passphrase of the copy of the secrets without a terminal. Set ORG_PASSPHRASE, or pass create --no-secrets-copy.',
    );
  }
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

/**
 * The copy of an org's secrets: a file that `age --decrypt` turns into lines of `NAME=value`. While a secret is rotated, its value is the new one,
 * a space and the former one, as it is in the deployment.
 */
export class SecretsCopy {
  readonly file: string;
  readonly exists: boolean;
  /** Whether nobody has named the file. */
  readonly isDefault: boolean;
  private passphrase = '';
  private values: Record<string, string> = {};

  private constructor(file: string, isThere: boolean, isDefault: boolean) {
    this.file = file;
    this.exists = isThere;
    this.isDefault = isDefault;
  }

  static async find(file: string, { isDefault = false } = {}): Promise<SecretsCopy> {
    return new SecretsCopy(file, await exists(file), isDefault);
  }

  /** What it contains; nothing if there is no file yet. Takes the passphrase. Throws if that is wrong, or if the file is no copy of secrets. */
  async read(): Promise<Readonly<Record<string, string>>> {
    const bytes = this.exists ? await readFile(this.file) : null;
    if (bytes && !bytes.toString('latin1').startsWith(FIRST_LINE)) {
      throw new CommandError(`${this.file} is not a copy of secrets. It was not changed.`);
    }
    this.passphrase = await readPassphrase(this.file, !this.exists);
    if (!bytes) return {};
    const decrypter = new Decrypter();
    decrypter.addPassphrase(this.passphrase);
    const text = await decrypter.decrypt(bytes, 'text').catch(() => {
      throw new CommandError(`Wrong passphrase for ${this.file}, or the file is damaged.`);
    });
    this.values = parseEnv(text) as Record<string, string>;
    return this.values;
  }

  /** Adds or replaces values, after `read`. Only the file's owner can read it. Throws if another file has appeared there. */
  async save(values: Record<string, string>): Promise<void> {
    const encrypter = new Encrypter();
    encrypter.setPassphrase(this.passphrase);
    const lines = Object.entries({ ...this.values, ...values }).map(([name, value]) => `${name}=${value}\n`);
    const bytes = await encrypter.encrypt(lines.join(''));
    if (!this.exists) {
      await writeFile(this.file, bytes, { mode: 0o600, flag: 'wx' });
      return;
    }
    // In place of the former one only once it is complete.
    await writeFile(`${this.file}.new`, bytes, { mode: 0o600 });
    await rename(`${this.file}.new`, this.file);
  }
}
