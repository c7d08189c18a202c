import { batchWithRetry } from '#db';
import { type DeviceState, deviceKey } from './device-state.ts';
import { isOfDevice, type LoggedEvent } from './event.ts';
import { allKeysOf, scopedKey } from './keys.ts';
import { type Counted, deviceKeyOf, type Known } from './tally.ts';

type KeyRow = Counted['keys'][number];
type DeviceRow = Omit<DeviceState, 'test'> & { test: number };
type TokenRow = { id: string; revokedAt: number };

/** Reads what has to be known to count these events: three statements, whatever their number. */
export async function readKnown(db: D1Database, logged: readonly LoggedEvent[]): Promise<Known> {
  const events = logged.filter(isOfDevice);
  const devices = new Map(
    events.map((event) => [deviceKeyOf(event), [event.application_id, event.acquired_day, event.device_id]]),
  );
  const keys = new Map<string, [string, number, string]>();
  for (const event of events) {
    for (const { key, days } of allKeysOf(event)) {
      for (const day of days) {
        keys.set(scopedKey(event.application_id, day, key), [event.application_id, day, key]);
      }
    }
  }
  const tokens = new Set(events.flatMap((event) => event.token_id ?? []));
  const [deviceRows, keyRows, tokenRows] = await batchWithRetry(db, () => [
    db
      .prepare(
        `SELECT application_id AS applicationId, acquired_day AS acquiredDay, devices.id, test, active_days AS activeDays,
           active_ages AS activeAges, paid_days AS paidDays, milestones
         FROM json_each(?1) AS wanted CROSS JOIN devices
           ON application_id = wanted.value ->> 0 AND acquired_day = wanted.value ->> 1 AND devices.id = wanted.value ->> 2`,
      )
      .bind(JSON.stringify([...devices.values()])),
    db
      .prepare(
        `SELECT application_id AS applicationId, day, idempotency_keys.key, event_id AS eventId
         FROM json_each(?1) AS wanted CROSS JOIN idempotency_keys
           ON application_id = wanted.value ->> 0 AND day = wanted.value ->> 1
             AND idempotency_keys.key = wanted.value ->> 2`,
      )
      .bind(JSON.stringify([...keys.values()])),
    db
      .prepare(
        `SELECT tokens.id, revoked_at AS revokedAt FROM json_each(?1) AS wanted CROSS JOIN tokens ON tokens.id = wanted.value
         WHERE revoked_at IS NOT NULL`,
      )
      .bind(JSON.stringify([...tokens])),
  ]);
  return {
    devices: new Map(
      ((deviceRows?.results ?? []) as DeviceRow[]).map((row) => [
        deviceKey(row),
        { ...row, test: row.test === 1 },
      ]),
    ),
    keys: new Map(
      ((keyRows?.results ?? []) as KeyRow[]).map(({ applicationId, day, key, eventId }) => [
        scopedKey(applicationId, day, key),
        eventId,
      ]),
    ),
    revokedTokens: new Map(
      ((tokenRows?.results ?? []) as TokenRow[]).map(({ id, revokedAt }) => [id, revokedAt]),
    ),
  };
}
