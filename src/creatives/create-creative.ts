import { eq } from 'drizzle-orm';
import * as z from 'zod';
import type { Caller } from '#audit';
import { creatives, database } from '#db';
import {
  AppError,
  describeFaults,
  optionalName,
  requiredName,
  requiredText,
  toFaults,
  unavailable,
} from '#http';
import { weekdayOf } from '#lib/calendar';
import { sha256Hex } from '#lib/crypto';
import { toBase64Url } from '#lib/encoding/base64url';
import { newId } from '#lib/ids';
import { logWarning } from '#lib/log';
import { retry } from '#lib/retry';
import { dayIn } from '#lib/time';
import type { ApplicationRow } from '#teams';
import type { CreatedCreative } from './answers.ts';
import { ExternalIds, takenIds } from './external-ids.ts';
import type { MadeCreative, Minted, WantedCreative } from './get-or-create.ts';
import { weekName } from './names.ts';

const name = requiredName(255);
const more = { campaign: optionalName(255), adset: optionalName(255) };

/** The names of a new creative. Without a campaign or an ad set, the current week and weekday are used. */
export const NewCreativeNames = z.object({ creative: name, ...more });
type CreativeRequest = Omit<z.infer<typeof NewCreative>, 'app_api_key'>;

/** Body of `POST /v1/creatives`. */
export const NewCreative = z.object(
  { creative: name, app_api_key: requiredText(1024), ...more, external_ids: ExternalIds.optional() },
  { error: 'The body must be a JSON object' },
);

const REQUIRED: Record<string, string> = {
  creative: 'Creative name is required',
  app_api_key: 'API key is required',
};

/** What to answer if one of these schemas refuses a body: the text of the first fault, in field order. */
export function creativeFault(error: z.core.$ZodError): AppError {
  const [fault] = toFaults(error);
  const required = fault?.message === 'is required' ? REQUIRED[fault.path] : undefined;
  return new AppError('invalid_request', required ?? describeFaults(fault ? [fault] : []));
}

/** Parses a body with one of these schemas. Throws `invalid_request`. */
export function parseCreative<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw creativeFault(parsed.error);
  return parsed.data;
}

/** Calls the application's registry object. A call that is lost on the way is retried; the retry creates nothing twice. */
export async function askRegistry(env: Env, wanted: WantedCreative): Promise<MadeCreative> {
  const isPassing = (error: unknown) =>
    error instanceof Error && 'retryable' in error && error.retryable === true;
  try {
    return await retry(async () => await env.CREATIVES.getByName(wanted.applicationId).create(wanted), {
      isPassing,
    });
  } catch (error) {
    logWarning('creative not made', error, { application_id: wanted.applicationId });
    throw unavailable();
  }
}

export const mintIds = (): Minted => ({
  creativeId: newId('crt'),
  token: toBase64Url(crypto.getRandomValues(new Uint8Array(16))),
  campaignId: newId('cmp'),
  adsetId: newId('ads'),
  auditId: newId('aud'),
});

/**
 * Creates a creative for an application and records it in the audit log. `linkTo` builds a tracking link from a token. Throws `conflict` if
 * the `idempotencyKey` was used for a different request, or another creative has one of the ids, and `unavailable` if the database fails. A failed call leaves nothing behind.
 * `creativeId` is that of the first answer if it is replayed; null if that creative was deleted since. `duplicateOf` is the first creative
 * that already had the same name in the same ad set: names of creatives are not unique.
 */
export async function createCreative(
  env: Env,
  { team, actor, now }: Omit<Caller, 'db'>,
  application: ApplicationRow,
  request: CreativeRequest,
  { linkTo, idempotencyKey }: { linkTo: (token: string) => string; idempotencyKey?: string | undefined },
): Promise<{
  answer: CreatedCreative;
  creativeId: string | null;
  duplicateOf: string | null;
  replayed: boolean;
}> {
  const today = dayIn(application.timezone, now);
  const names = {
    creative: request.creative,
    campaign: request.campaign ?? weekName(today),
    adset: request.adset ?? weekdayOf(today),
  };
  const minted = mintIds();
  const answer: CreatedCreative = {
    message: 'Creative created successfully',
    creative: { name: names.creative, tracking_link: linkTo(minted.token) },
    campaign: { name: names.campaign, is_new: false },
    adset: { name: names.adset, is_new: false },
    application: { name: application.name },
  };
  const made = await askRegistry(env, {
    applicationId: application.id,
    teamId: team.id,
    actor,
    names,
    externalIds: request.external_ids ?? [],
    minted,
    now,
    idempotency: idempotencyKey
      ? {
          key: idempotencyKey,
          requestHash: await hashRequest(request, application.id),
          answer: JSON.stringify(answer),
        }
      : null,
  });
  if (made.isIdTaken) throw takenIds();
  if (made.replayed && !made.replayed.sameRequest) {
    throw new AppError('conflict', 'This Idempotency-Key was used for another request');
  }
  const first: CreatedCreative = made.replayed ? JSON.parse(made.replayed.answer) : answer;
  return {
    answer: {
      ...first,
      campaign: { ...first.campaign, is_new: made.campaignIsNew },
      adset: { ...first.adset, is_new: made.adsetIsNew },
    },
    creativeId: made.replayed ? await idOfLink(env, first.creative.tracking_link) : minted.creativeId,
    duplicateOf: made.duplicateOf,
    replayed: made.replayed !== null,
  };
}

/** The id of the creative with a tracking link, which ends with its token; null if there is none. */
async function idOfLink(env: Env, link: string): Promise<string | null> {
  const rows = await database(env.DB)
    .select({ id: creatives.id })
    .from(creatives)
    .where(eq(creatives.token, link.slice(link.lastIndexOf('/') + 1)));
  return rows[0]?.id ?? null;
}

/** Hashes the application's id instead of its key, which may be replaced between a request and its retry. */
function hashRequest(request: CreativeRequest, applicationId: string): Promise<string> {
  const { creative, campaign = null, adset = null, external_ids } = request;
  return sha256Hex(JSON.stringify([applicationId, creative, campaign, adset, ...(external_ids ?? [])]));
}
