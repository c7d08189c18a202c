import { type Attribution, attributeDevice, clickWasTaken, creditStatement } from '#attribution';
import { batchWithRetry } from '#db';
import { settingsOf } from '#env';
import type { AuthenticatedApplication } from '#http';
import { toBase64Url } from '#lib/base64url';
import { hmac } from '#lib/crypto';
import { newId } from '#lib/ids';
import { DAY_MS, dayIn } from '#lib/time';
import { appendStatement, type LoggedEvent } from '#rollup';
import type { DeviceMetrics } from './device-metrics.ts';
import { signToken } from './token.ts';

type Device = { id: string; acquiredDay: string; creativeId: string };

/**
 * Makes a device (or finds the one of the same `device_id`) and a token for it.
 * Device, attribution, token and the install that the reports count are one transaction and one round trip, which is safe to
 * repeat after an unclear failure: every id is made before the first try. One round trip before it reads the clicks, and both
 * again where another device was credited to the same click meanwhile.
 */
export async function fetchToken(
  env: Env,
  application: AuthenticatedApplication,
  metrics: DeviceMetrics,
  now: number,
): Promise<string> {
  for (;;) {
    try {
      return await tryFetchToken(env, application, metrics, now);
    } catch (error) {
      // The next try finds that click taken, so the tries end with the clicks.
      if (!clickWasTaken(error)) throw error;
    }
  }
}

async function tryFetchToken(
  env: Env,
  application: AuthenticatedApplication,
  metrics: DeviceMetrics,
  now: number,
): Promise<string> {
  const { TOKEN_SECRET, TOKEN_TTL_DAYS } = settingsOf(env);
  const acquiredAt = Math.min(metrics.created_at, now);
  const alias = await aliasOf(env, application.id, metrics.data.device_id);
  const attribution = await attributeDevice(env, application.id, alias, metrics.data, acquiredAt, now);
  const fresh: Device = {
    id: newId('dev'),
    acquiredDay: dayIn(application.timezone, acquiredAt),
    creativeId: attribution?.creative_id ?? '',
  };
  const clickId = attribution?.click_id;
  const token = { id: newId('tok'), createdAt: now, expiresAt: now + TOKEN_TTL_DAYS * DAY_MS };
  const install: LoggedEvent = {
    id: newId('evt'),
    application_id: application.id,
    type: 'install',
    device_id: fresh.id,
    creative_id: fresh.creativeId || null,
    acquired_day: fresh.acquiredDay,
    day: fresh.acquiredDay,
    occurred_at: acquiredAt,
    received_at: now,
    ...(metrics.created_at > now ? { clock_ahead: true } : {}),
  };
  const results = await batchWithRetry<Device>(env.DB, () => [
    ...(alias ? [claimAlias(env.DB, application.id, alias, fresh)] : []),
    insertDevice(env.DB, application.id, alias, fresh, metrics, acquiredAt, attribution),
    ...(clickId
      ? [
          creditStatement(env.DB, {
            applicationId: application.id,
            clickId,
            deviceId: fresh.id,
            acquiredDay: fresh.acquiredDay,
            guessed: attribution.method === 'probabilistic',
          }),
        ]
      : []),
    appendStatement(env.DB, [install], now, `?3 IS NULL OR ${OWNS_ALIAS}`, alias, application.id, fresh.id),
    insertToken(env.DB, application.id, alias, fresh, token),
    findDevice(env.DB, application.id, alias),
  ]);
  const device = results.at(-1)?.results[0] ?? fresh;
  return signToken(
    {
      tokenId: token.id,
      applicationId: application.id,
      deviceId: device.id,
      creativeId: device.creativeId || null,
      acquiredDay: device.acquiredDay,
      createdAt: token.createdAt,
      expiresAt: token.expiresAt,
    },
    TOKEN_SECRET,
  );
}

/** A backend's `device_id` may be personal data, so only its keyed hash is stored. Null where none was sent. */
async function aliasOf(
  env: Env,
  applicationId: string,
  deviceId: string | undefined,
): Promise<string | null> {
  if (!deviceId) return null;
  return toBase64Url(
    await hmac(settingsOf(env).KEY_ENCRYPTION_SECRET, `device:${applicationId}:${deviceId}`),
  );
}

/** True of the device that an alias (?3) of an application (?4) stands for (?5): of two made at once, one. */
const OWNS_ALIAS =
  'EXISTS (SELECT 1 FROM device_aliases WHERE application_id = ?4 AND alias = ?3 AND device_id = ?5)';

function claimAlias(
  db: D1Database,
  applicationId: string,
  alias: string,
  device: Device,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO device_aliases (application_id, alias, device_id, acquired_day, creative_id)
       VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    )
    .bind(applicationId, alias, device.id, device.acquiredDay, device.creativeId);
}

function insertDevice(
  db: D1Database,
  applicationId: string,
  alias: string | null,
  device: Device,
  { data }: DeviceMetrics,
  acquiredAt: number,
  attribution: Attribution | null,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO devices (acquired_day, creative_id, application_id, id, acquired_at, device_name, device_model,
         os_system, timezone, dpi, window_height, window_width, attribution)
       SELECT ?1, ?2, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 WHERE ?3 IS NULL OR ${OWNS_ALIAS}
       ON CONFLICT DO NOTHING`,
    )
    .bind(
      device.acquiredDay,
      device.creativeId,
      alias,
      applicationId,
      device.id,
      acquiredAt,
      data.device_name,
      data.device_model,
      data.os_system,
      data.timezone,
      data.dpi ?? null,
      data.window_height ?? null,
      data.window_width ?? null,
      JSON.stringify(attribution ?? {}),
    );
}

function insertToken(
  db: D1Database,
  applicationId: string,
  alias: string | null,
  device: Device,
  token: { id: string; createdAt: number; expiresAt: number },
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO tokens (id, application_id, device_id, created_at, expires_at)
       SELECT ?1, ?2, coalesce((SELECT device_id FROM device_aliases WHERE application_id = ?2 AND alias = ?3), ?4), ?5, ?6
       WHERE true ON CONFLICT DO NOTHING`,
    )
    .bind(token.id, applicationId, alias, device.id, token.createdAt, token.expiresAt);
}

function findDevice(db: D1Database, applicationId: string, alias: string | null): D1PreparedStatement {
  return db
    .prepare(
      `SELECT device_id AS id, acquired_day AS acquiredDay, creative_id AS creativeId
       FROM device_aliases WHERE application_id = ? AND alias = ?`,
    )
    .bind(applicationId, alias);
}
