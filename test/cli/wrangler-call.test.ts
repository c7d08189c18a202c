import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../../src/cli/command.ts';
import { asDiskError } from '../../src/cli/wrangler/prepare-state.ts';
import { readOptions } from '../../src/cli/wrangler/wrangler-call.ts';

describe('the options of wrangler', () => {
  const NONE = {
    env: undefined,
    config: undefined,
    state: undefined,
    hasSecretsFile: false,
    isDryRun: false,
  };
  it.each([
    ['dev', {}],
    ['dev --port 8787 --inspector-port 0 --test-scheduled', {}],
    ['deploy --env acme', { env: 'acme' }],
    ['deploy -e acme --dry-run', { env: 'acme', isDryRun: true }],
    ['deploy --env=acme --outdir x', { env: 'acme' }],
    ['deploy --env=', {}],
    ['deploy -c other.toml', { config: 'other.toml' }],
    ['dev --persist-to /tmp/state --env-file a --env-file b', { state: '/tmp/state', hasSecretsFile: true }],
    ['dev --persist-to state', { state: path.resolve('state') }],
  ])('are read from %s', (line, expected) => {
    expect(readOptions(line.split(' '), undefined)).toEqual({ ...NONE, ...expected });
  });

  it('may name the environment by a variable', () => {
    expect(readOptions(['deploy'], 'acme').env).toBe('acme');
    expect(readOptions(['deploy', '--env', 'globex'], 'acme').env).toBe('globex');
  });
});

describe('a disk that takes nothing', () => {
  const withCode = (code: string) => Object.assign(new Error(`${code}: write`), { code });
  it.each([
    [withCode('ENOSPC'), 'the disk is full'],
    [withCode('EDQUOT'), 'the disk is full'],
    [new Error('D1_ERROR: database or disk is full: SQLITE_FULL'), 'the disk is full'],
    [new Error('failed', { cause: withCode('ENOSPC') }), 'the disk is full'],
    [withCode('EROFS'), 'it is read-only, or belongs to another user'],
    [withCode('EACCES'), 'it is read-only, or belongs to another user'],
    [new Error('D1_ERROR: attempt to write a readonly database: SQLITE_READONLY'), 'it is read-only'],
  ])('is one sentence for %s', (error, cause) => {
    const told = asDiskError(error, '/data/state');
    expect(told).toBeInstanceOf(CommandError);
    expect(told?.message).toContain(`/data/state cannot be written: ${cause}`);
    expect(told?.message).not.toContain('\n');
  });

  it('is no other error', () => {
    expect(asDiskError(new Error('The migration 0041 failed: near "x"'), '/data')).toBeNull();
    expect(asDiskError(new CommandError('used by ENOSPC'), '/data')).toBeNull();
  });
});
