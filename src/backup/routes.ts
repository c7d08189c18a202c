import { Hono } from 'hono';
import * as z from 'zod';
import {
  type AppContext,
  type AppEnv,
  AppError,
  addressOf,
  bearerOf,
  jsonBody,
  limitBody,
  MAX_JSON_BODY_BYTES,
  requireWithin,
} from '#http';
import { listObjects } from '#lib/input/list-objects';
import { continueRestore, findRestore, type RestoreProgress } from './restore.ts';
import { takeSecrets } from './secrets-copy.ts';

const Continue = z.object({
  /** Restores although the secrets are not those of the snapshot. */
  other_secrets: z.boolean().default(false),
});

/** What a restore reads. Larger objects are not written by any release. */
const OBJECT = /^(?:cubes|events|months|snapshots)\/[\w./=-]+$/;
const PREFIXES = ['cubes/', 'events/', 'months/', 'snapshots/'];
const MAX_OBJECT_BYTES = 100_000_000;

/** The restore that the request's bearer token continues. */
async function restoreOf(c: AppContext) {
  await requireWithin(c.env.UNKNOWN_CREDENTIAL_LIMIT, addressOf(c));
  return findRestore(c.env, bearerOf(c) ?? '');
}

type CopiedSecrets = { secrets: Record<string, string> };
type ListedObjects = { objects: { key: string; size: number }[] };
type StoredObject = { key: string };

/** For `npm run restore` and `npm run org`, which write the token into the database. They are not part of the API, so the document has nothing to link to. */
export const restoreRoutes = new Hono<AppEnv>()
  .use('/:path{restore|secrets-copy}/*', async (c, next) => {
    await next();
    c.res.headers.delete('Link');
  })
  .post('/secrets-copy', async (c) => {
    await requireWithin(c.env.UNKNOWN_CREDENTIAL_LIMIT, addressOf(c));
    c.header('Cache-Control', 'no-store');
    return c.json<CopiedSecrets>({ secrets: await takeSecrets(c.env, bearerOf(c) ?? '', Date.now()) });
  })
  .post('/restore', limitBody(MAX_JSON_BODY_BYTES), ...jsonBody(Continue), async (c) => {
    const { other_secrets: otherSecrets } = c.req.valid('json');
    return c.json<RestoreProgress>(await continueRestore(c.env, await restoreOf(c), otherSecrets));
  })
  .get('/restore/objects', async (c) => {
    await restoreOf(c);
    const objects: ListedObjects['objects'] = [];
    for (const prefix of PREFIXES) {
      for await (const { key, size } of listObjects(c.env.RAW_EVENTS, prefix)) objects.push({ key, size });
    }
    return c.json<ListedObjects>({ objects });
  })
  .put('/restore/objects/*', limitBody(MAX_OBJECT_BYTES), async (c) => {
    const { finishedAt } = await restoreOf(c);
    if (finishedAt !== null) throw new AppError('conflict', 'The restore is complete');
    const key = decodeURIComponent(new URL(c.req.url).pathname.slice('/restore/objects/'.length));
    if (!OBJECT.test(key)) throw new AppError('invalid_request', `${key} is not part of a backup`);
    await c.env.RAW_EVENTS.put(key, await c.req.arrayBuffer());
    return c.json<StoredObject>({ key });
  });
