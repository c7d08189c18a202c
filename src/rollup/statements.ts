import { additionSql, type RollupTable } from './tables.ts';
import type { Counted } from './tally.ts';

/** D1 takes 2 MB a value; longer lists go into several statements of the same transaction. */
const MAX_PARAMETER_BYTES = 1_000_000;

const UPDATE_DEVICES = `UPDATE devices SET active_days = changed.value ->> 3, active_ages = changed.value ->> 4,
    paid_days = changed.value ->> 5, milestones = changed.value ->> 6
  FROM json_each(?1) AS changed
  WHERE application_id = changed.value ->> 0 AND acquired_day = changed.value ->> 1 AND devices.id = changed.value ->> 2`;

const INSERT_KEYS = `INSERT INTO idempotency_keys (application_id, day, key, event_id)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`;

/** What stores a run's count: a fixed, small number of statements, each over one JSON parameter (several for a long list). */
export function countStatements(db: D1Database, counted: Counted): D1PreparedStatement[] {
  const overRows = (sql: string, rows: unknown[]) =>
    toParameters(rows).map((parameter) => db.prepare(sql).bind(parameter));
  const { daily, ads, items, custom, activity, revenue, devices, keys } = counted;
  return [
    ...[daily, ads, items, custom, activity, revenue].flatMap((additions) =>
      overRows(additionSql(additions.table satisfies RollupTable), [...additions.rows()]),
    ),
    ...overRows(
      UPDATE_DEVICES,
      devices.map((device) => [
        device.applicationId,
        device.acquiredDay,
        device.id,
        device.activeDays,
        device.activeAges,
        device.paidDays,
        device.milestones,
      ]),
    ),
    ...overRows(
      INSERT_KEYS,
      keys.map(({ applicationId, day, key, eventId }) => [applicationId, day, key, eventId]),
    ),
  ];
}

/** Rows as JSON arrays that each fit into one bound value; none for no rows. */
export function toParameters(rows: readonly unknown[]): string[] {
  const parameters: string[] = [];
  let part: string[] = [];
  let size = 0;
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (size + text.length > MAX_PARAMETER_BYTES && part.length > 0) {
      parameters.push(`[${part.join(',')}]`);
      part = [];
      size = 0;
    }
    part.push(text);
    size += text.length + 1;
  }
  if (part.length > 0) parameters.push(`[${part.join(',')}]`);
  return parameters;
}
