import { type Attribution, attributeDevice, clickWasTaken, creditStatement } from '#attribution';
import { batchWithRetry } from '#db';
import { settingsOf } from '#env';
import type { AuthenticatedApplication } from '#http';
import { toBase64Url } from '#lib/base64url';
import { hmac } from '#lib/crypto';
import { newId } from '#lib/ids';
import { DAY_MS, dayIn } from '#lib/time';
import { appendStatement, type LoggedEvent } from '#rollup';
import { type DeviceMetrics, identityOf } from './device-metrics.ts';
import { settleTime } from './timestamp.ts';
import { signToken } from './token.ts';

/** What one message of device metrics makes, if its device is not known already. Its ids are minted before the first try. */
type Draft = {
  metrics: DeviceMetrics;
  /** Keyed hash of what its sender knows the device by; null where that is nothing. */
  alias: string | null;
  deviceId: string;
  tokenId: string;
  installId: string;
  acquiredAt: number;
  acquiredDay: string;
  clockAhead: boolean;
  attribution: Attribution | null;
};

type Device = { id: string; acquiredDay: string; creativeId: string };

/**
 * Makes devices (or finds those of the same identity) and a token for each, in the order of `metrics`.
 * Devices, attributions, tokens and the installs that the reports count are one transaction and one round trip, however many there
 * are. It is safe to repeat after an unclear failure, because every id is made before the first try. One round trip before it
 * reads the clicks, and both again where another device was credited to the same click meanwhile.
 */
export async function fetchTokens(
  env: Env,
  application: AuthenticatedApplication,
  metrics: readonly DeviceMetrics[],
  now: number,
): Promise<string[]> {
  for (;;) {
    try {
      return await tryFetchTokens(env, application, metrics, now);
    } catch (error) {
      if (!clickWasTaken(error)) throw error;
      // Two of them may have been credited to one click: then each has to see what became of those before it.
      if (metrics.length > 1) return fetchOneByOne(env, application, metrics, now);
      // The next try finds that click taken, so the tries end with the clicks.
    }
  }
}

async function fetchOneByOne(
  env: Env,
  application: AuthenticatedApplication,
  metrics: readonly DeviceMetrics[],
  now: number,
): Promise<string[]> {
  const tokens: string[] = [];
  for (const item of metrics) tokens.push(...(await fetchTokens(env, application, [item], now)));
  return tokens;
}

async function tryFetchTokens(
  env: Env,
  application: AuthenticatedApplication,
  metrics: readonly DeviceMetrics[],
  now: number,
): Promise<string[]> {
  const { TOKEN_SECRET, TOKEN_TTL_DAYS } = settingsOf(env);
  const drafts = await Promise.all(metrics.map((item) => draftOf(env, application, item, now)));
  const expiresAt = now + TOKEN_TTL_DAYS * DAY_MS;
  const results = await batchWithRetry<Device & { alias: string }>(env.DB, () => {
    const rows = JSON.stringify(drafts.map(toRow));
    return [
      env.DB.prepare(CLAIM_ALIASES).bind(application.id, rows),
      env.DB.prepare(INSERT_DEVICES).bind(application.id, rows),
      // Between devices and tokens: a device that has its token already has been credited by an earlier try.
      ...drafts.flatMap((draft) => credit(env.DB, application.id, draft)),
      env.DB.prepare(INSERT_TOKENS).bind(application.id, rows, now, expiresAt),
      appendStatement(
        env.DB,
        drafts.map((draft) => installOf(application.id, draft, now)),
        now,
        DEVICE_WAS_MADE,
      ),
      env.DB.prepare(FIND_KNOWN).bind(application.id, rows),
    ];
  });
  const known = new Map((results.at(-1)?.results ?? []).map((device) => [device.alias, device]));
  return Promise.all(
    drafts.map((draft) => {
      const fresh = { id: draft.deviceId, acquiredDay: draft.acquiredDay, creativeId: creativeOf(draft) };
      const device = known.get(draft.alias ?? '') ?? fresh;
      return signToken(
        {
          tokenId: draft.tokenId,
          applicationId: application.id,
          deviceId: device.id,
          creativeId: device.creativeId || null,
          acquiredDay: device.acquiredDay,
          createdAt: now,
          expiresAt,
        },
        TOKEN_SECRET,
      );
    }),
  );
}

async function draftOf(
  env: Env,
  application: AuthenticatedApplication,
  metrics: DeviceMetrics,
  now: number,
): Promise<Draft> {
  const { occurredAt: acquiredAt, clockAhead } = settleTime(metrics.created_at, now);
  const alias = await aliasOf(env, application.id, identityOf(metrics));
  return {
    metrics,
    alias,
    deviceId: newId('dev'),
    tokenId: newId('tok'),
    installId: newId('evt'),
    acquiredAt,
    acquiredDay: dayIn(application.timezone, acquiredAt),
    clockAhead,
    attribution: await attributeDevice(env, application.id, alias, metrics.data, acquiredAt, now),
  };
}

const creativeOf = ({ attribution }: Draft) => attribution?.creative_id ?? '';

/** What a device is known by may be personal data, so only its keyed hash is stored. */
async function aliasOf(env: Env, applicationId: string, identity: string | null): Promise<string | null> {
  if (identity === null) return null;
  return toBase64Url(
    await hmac(settingsOf(env).KEY_ENCRYPTION_SECRET, `device:${applicationId}:${identity}`),
  );
}

function installOf(applicationId: string, draft: Draft, now: number): LoggedEvent {
  const { metrics, acquiredDay } = draft;
  const { app_version, sdk_version, sdk_type, warnings } = metrics;
  const device = Object.entries({ app_version, sdk_version, sdk_type }).flatMap(([name, value]) =>
    value ? [[name, value]] : [],
  );
  return {
    id: draft.installId,
    application_id: applicationId,
    type: 'install',
    device_id: draft.deviceId,
    creative_id: creativeOf(draft) || null,
    acquired_day: acquiredDay,
    day: acquiredDay,
    occurred_at: draft.acquiredAt,
    received_at: now,
    token_id: draft.tokenId,
    ...(metrics.dev ? { test: true } : {}),
    ...(draft.clockAhead ? { clock_ahead: true } : {}),
    ...(device.length > 0 ? { device: Object.fromEntries(device) } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

/** A test build takes no click away from a customer. */
function credit(db: D1Database, applicationId: string, draft: Draft): D1PreparedStatement[] {
  const { attribution, metrics, deviceId, acquiredDay } = draft;
  if (!attribution?.click_id || metrics.dev) return [];
  const guessed = attribution.method === 'probabilistic';
  return [
    creditStatement(db, { applicationId, clickId: attribution.click_id, deviceId, acquiredDay, guessed }),
  ];
}

const toRow = (draft: Draft) => ({
  alias: draft.alias,
  device: draft.deviceId,
  token: draft.tokenId,
  acquired_day: draft.acquiredDay,
  acquired_at: draft.acquiredAt,
  creative: creativeOf(draft),
  attribution: JSON.stringify(draft.attribution ?? {}),
  test: draft.metrics.dev ? 1 : 0,
  app_version: draft.metrics.app_version,
  data: draft.metrics.data,
});

// Over ?1, the application, and ?2, the drafts as JSON.

const CLAIM_ALIASES = `
  INSERT INTO device_aliases (application_id, alias, device_id, acquired_day, creative_id)
  SELECT ?1, value ->> 'alias', value ->> 'device', value ->> 'acquired_day', value ->> 'creative'
  FROM json_each(?2) WHERE value ->> 'alias' IS NOT NULL ON CONFLICT DO NOTHING`;

/** Of two drafts of one alias, made at once or in one request, one device comes to be. */
const INSERT_DEVICES = `
  INSERT INTO devices (application_id, acquired_day, id, creative_id, acquired_at, attribution, test, app_version, country,
    device_name, device_model, os_system, timezone, dpi, window_height, window_width)
  SELECT ?1, value ->> 'acquired_day', value ->> 'device', value ->> 'creative', value ->> 'acquired_at',
    value ->> 'attribution', value ->> 'test', value ->> 'app_version', value ->> '$.data.country',
    value ->> '$.data.device_name', value ->> '$.data.device_model', value ->> '$.data.os_system',
    value ->> '$.data.timezone', value ->> '$.data.dpi', value ->> '$.data.window_height', value ->> '$.data.window_width'
  FROM json_each(?2)
  WHERE value ->> 'alias' IS NULL OR EXISTS (
    SELECT 1 FROM device_aliases
    WHERE application_id = ?1 AND alias = value ->> 'alias' AND device_id = value ->> 'device')
  ON CONFLICT DO NOTHING`;

const INSERT_TOKENS = `
  INSERT INTO tokens (id, application_id, device_id, created_at, expires_at)
  SELECT value ->> 'token', ?1, coalesce(
    (SELECT device_id FROM device_aliases WHERE application_id = ?1 AND alias = value ->> 'alias'), value ->> 'device'), ?3, ?4
  FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`;

const FIND_KNOWN = `
  SELECT alias, device_id AS id, acquired_day AS acquiredDay, creative_id AS creativeId
  FROM json_each(?2) AS draft CROSS JOIN device_aliases
    ON application_id = ?1 AND alias = draft.value ->> 'alias'`;

const DEVICE_WAS_MADE = `EXISTS (
  SELECT 1 FROM devices
  WHERE devices.application_id = item.application_id AND devices.acquired_day = event ->> 'acquired_day'
    AND devices.id = event ->> 'device_id')`;
