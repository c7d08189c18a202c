import cliProgress from 'cli-progress';
import type { RestoreProgress } from '#backup';
import { beginRestoreSql } from '#backup/begin';
import { askService, isFinal, type ServiceAnswer } from './ask-service.ts';
import { CommandError, checkUrl, runCommand, UsageError } from './command.ts';
import { readDemo } from './local-state.ts';
import { boundBucket, type Call, filesOf, isFolder, uploadFiles } from './restore-files.ts';
import { executeSql, type Where } from './wrangler-database.ts';

const USAGE = `Usage: npm run restore -- --from <folder or bucket>
       npm run restore -- --from <folder or bucket> --remote --url https://<your deployment> [--env <org>]
       npm run restore -- --application <id> [--remote --url https://<your deployment> --env <org>]

Restores everything from the newest snapshot in a bucket, and counts the raw events that are newer, in an empty deployment: without
--remote, in the local one of \`npm start -- --empty\`, which must be running. Run it again to continue after an interruption.
--from is a folder with a copy of the bucket, or the name of the bucket that the deployment is bound to.
With --application, it restores one application of a deployment that goes on, after a counter has lost what it stored: Health names the
application. --from is then the deployment's own bucket, unless it is a folder.
The deployment needs the secrets with which the snapshot was made. --other-secrets restores with others, which has the effects of
rotating them (see docs/operations.md).`;

const RETRY_MS = 2_000;
const ATTEMPTS = 60;

const localUrl = async () => (await readDemo())?.base_url ?? `http://localhost:${process.env.PORT ?? 8787}`;

/** Repeats calls that fail for a moment: each may be repeated. */
function caller(origin: string, secret: string): Call {
  return async (method, route, body) => {
    const answered = await askService(
      origin + route,
      {
        method,
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: body as BodyInit }),
      },
      { attempts: ATTEMPTS, waitMs: () => RETRY_MS },
      isSettled,
    );
    const { ok, text } = answered;
    if (ok) return JSON.parse(text);
    if (!isSettled(answered)) throw new CommandError(`${origin} does not respond: ${text}`);
    const { error = text }: { error?: string } = text.startsWith('{') ? JSON.parse(text) : {};
    throw new CommandError(`${error}.`);
  };
}

const isSettled = (answered: ServiceAnswer): boolean =>
  isFinal(answered) && !answered.text.includes('Another request is restoring');

type Begun = { finished_at: number | null; application_id?: string };

async function beginApplication(applicationId: string, where: Where): Promise<string> {
  if (!/^app_[0-9a-f]{32}$/.test(applicationId))
    throw new UsageError(`${applicationId} is no application id.`);
  const { statements, secret } = await beginRestoreSql(Date.now(), applicationId);
  const [row] = (await executeSql(statements, where)) as Begun[];
  if (!row) throw new CommandError(`This deployment has no application ${applicationId}.`);
  if (row.application_id !== applicationId) {
    throw new CommandError(
      `The restore of ${row.application_id} is not complete. Finish it first: npm run restore -- --application ${row.application_id}`,
    );
  }
  return secret;
}

async function begin(where: Where): Promise<string> {
  const { statements, secret } = await beginRestoreSql(Date.now());
  const [row] = (await executeSql(statements, where)) as Begun[];
  if (!row) throw new CommandError('This deployment is not empty. Restore into a new one.');
  if (row.finished_at !== null) throw new CommandError('This deployment is restored already.');
  return secret;
}

const bar = (what: string) =>
  new cliProgress.SingleBar({ format: `${what} {bar} {value} of {total}`, hideCursor: true });

async function restoreAll(call: Call, otherSecrets: boolean): Promise<RestoreProgress> {
  const shown = bar('Restoring');
  try {
    for (let isStarted = false; ; isStarted = true) {
      const body = JSON.stringify({ other_secrets: otherSecrets });
      const progress = await call<RestoreProgress>('POST', '/restore', body);
      if (!isStarted) shown.start(progress.steps, progress.done);
      shown.setTotal(progress.steps);
      shown.update(progress.done);
      if (progress.finished) return progress;
    }
  } finally {
    shown.stop();
  }
}

const number = new Intl.NumberFormat('en');

/** What was restored. The first two numbers are equal, or something is wrong. */
function summaryOf({ snapshot, restored, rows_in_snapshot: rows, missing }: RestoreProgress): string {
  return [
    snapshot === ''
      ? 'No snapshot has the application: everything was restored from raw events.'
      : `Restored the snapshot of ${snapshot}: ${number.format(restored.rows)} of ${number.format(rows)} rows.`,
    `${number.format(restored.events)} newer events were counted from ${number.format(restored.files)} raw event files.`,
    ...(missing.length > 0
      ? [`The snapshot has only settings of ${missing.join(', ')}: all else was counted from raw events.`]
      : []),
  ].join('\n');
}

await runCommand(
  {
    usage: USAGE,
    options: {
      from: { type: 'string' },
      remote: { type: 'boolean', default: false },
      url: { type: 'string' },
      env: { type: 'string' },
      application: { type: 'string' },
      'other-secrets': { type: 'boolean', default: false },
    },
  },
  async ({ values: { remote, url, env, application, 'other-secrets': otherSecrets, ...given } }) => {
    const from = given.from ?? (application === undefined ? undefined : await boundBucket(env));
    if (!from) throw new UsageError('Pass --from with a folder or the name of a bucket.');
    if (env && !remote) throw new UsageError('--env needs --remote.');
    checkUrl(url, remote);
    const files = (await isFolder(from)) ? await filesOf(from) : null;
    const bound = await boundBucket(env);
    if (!files && from !== bound) {
      throw new UsageError(
        `${from} is neither a folder nor the deployment's bucket, which is ${bound}. Copy the bucket to a folder.`,
      );
    }
    const where = { remote, env };
    const secret = await (application === undefined ? begin(where) : beginApplication(application, where));
    const call = caller(new URL(url ?? (await localUrl())).origin, secret);
    if (files) {
      const shown = bar('Uploading');
      shown.start(files.length, 0);
      await uploadFiles(files, call, (uploaded, total) => {
        shown.setTotal(total);
        shown.update(uploaded);
      }).finally(() => shown.stop());
    }
    const done = await restoreAll(call, otherSecrets);
    console.log(summaryOf(done));
    return done.restored.rows === done.rows_in_snapshot ? 0 : 1;
  },
);
