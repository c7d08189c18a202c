import { and, eq, gt, isNull, or } from 'drizzle-orm';
import * as z from 'zod';
import { apiKeys, applications, database } from '#db';
import { AppError, optionalText, requiredText, toFaults, unavailable } from '#http';
import { toBase64Url } from '#lib/base64url';
import { sha256Hex } from '#lib/crypto';
import { newId } from '#lib/ids';
import { dayIn } from '#lib/time';
import type { MadeCreative, WantedCreative } from './get-or-create.ts';
import { weekdayName, weekName } from './names.ts';

/** Body of `POST /v1/creatives`. */
export const NewCreative = z.object({
  creative: requiredText(255),
  app_api_key: requiredText(1024),
  campaign: optionalText(255),
  adset: optionalText(255),
});

const REQUIRED: Record<string, string> = {
  creative: 'Creative name is required',
  app_api_key: 'API key is required',
};

/** Throws `invalid_request` with the text of the first fault, in the order of the fields. */
function parseBody(body: unknown): z.infer<typeof NewCreative> {
  const parsed = NewCreative.safeParse(body);
  if (parsed.success) return parsed.data;
  const [fault] = toFaults(parsed.error);
  if (!fault) throw parsed.error;
  const required = fault.message === 'is required' ? REQUIRED[fault.path] : undefined;
  throw new AppError('invalid_request', required ?? `${fault.path} ${fault.message}`);
}

async function findApplication(db: D1Database, teamId: string, apiKey: string, now: number) {
  const [application] = await database(db)
    .select({ id: applications.id, name: applications.name, timezone: applications.timezone })
    .from(apiKeys)
    .innerJoin(applications, eq(applications.id, apiKeys.applicationId))
    .where(
      and(
        eq(apiKeys.hash, await sha256Hex(apiKey)),
        eq(applications.teamId, teamId),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
      ),
    );
  if (!application) throw new AppError('invalid_request', 'Invalid API key or application not found');
  return application;
}

type Answer = {
  message: string;
  creative: { name: string; tracking_link: string };
  campaign: { name: string; is_new: boolean };
  adset: { name: string; is_new: boolean };
  application: { name: string };
};

/** Asks the application's object. A call that got lost on the way is repeated, which makes nothing twice. */
async function askRegistry(env: Env, wanted: WantedCreative): Promise<MadeCreative> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await env.CREATIVES.getByName(wanted.applicationId).create(wanted);
    } catch (error) {
      console.warn(
        JSON.stringify({ level: 'warn', message: 'creative not made', attempt, error: String(error) }),
      );
      const lost = error instanceof Error && 'retryable' in error && error.retryable === true;
      if (!lost || attempt === 3) throw unavailable();
    }
  }
}

/**
 * Makes a creative for the team's application that the body's API key names. `linkTo` makes a tracking link of a token.
 * Throws `invalid_request` as the specification words it, `conflict` for an `Idempotency-Key` that came with another request,
 * `unavailable` when the database fails; a failed call leaves nothing behind.
 */
export async function createCreative(
  env: Env,
  teamId: string,
  body: unknown,
  idempotencyKey: string | undefined,
  linkTo: (token: string) => string,
  now: number,
): Promise<{ answer: Answer; replayed: boolean }> {
  const request = parseBody(body);
  const application = await findApplication(env.DB, teamId, request.app_api_key, now);
  const today = dayIn(application.timezone, now);
  const names = {
    creative: request.creative,
    campaign: request.campaign ?? weekName(today),
    adset: request.adset ?? weekdayName(today),
  };
  const minted = {
    creativeId: newId('crt'),
    token: toBase64Url(crypto.getRandomValues(new Uint8Array(16))),
    campaignId: newId('cmp'),
    adsetId: newId('ads'),
  };
  const answer: Answer = {
    message: 'Creative created successfully',
    creative: { name: names.creative, tracking_link: linkTo(minted.token) },
    campaign: { name: names.campaign, is_new: false },
    adset: { name: names.adset, is_new: false },
    application: { name: application.name },
  };
  const made = await askRegistry(env, {
    applicationId: application.id,
    names,
    minted,
    now,
    idempotency: idempotencyKey
      ? {
          teamId,
          key: idempotencyKey,
          requestHash: await hashRequest(request, application.id),
          answer: JSON.stringify(answer),
        }
      : null,
  });
  if (made.replayed && !made.replayed.sameRequest) {
    throw new AppError('conflict', 'This Idempotency-Key was used for another request');
  }
  const first: Answer = made.replayed ? JSON.parse(made.replayed.answer) : answer;
  return {
    answer: {
      ...first,
      campaign: { ...first.campaign, is_new: made.campaignIsNew },
      adset: { ...first.adset, is_new: made.adsetIsNew },
    },
    replayed: made.replayed !== null,
  };
}

/** The application stands for its key, which may have been replaced between a request and its repetition. */
function hashRequest(request: z.infer<typeof NewCreative>, applicationId: string): Promise<string> {
  const { creative, campaign = null, adset = null } = request;
  return sha256Hex(JSON.stringify([applicationId, creative, campaign, adset]));
}
