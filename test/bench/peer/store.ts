import type pg from 'pg';
import type { PeerEvent } from './envelope.ts';

// One statement is one transaction and one round trip: events whose id or key is already there are left out, and the others
// are added to the rows of their day. Rows are taken in the order of their key, so that two transactions never wait for each other.
const RECORD = `
  WITH recorded AS (
    INSERT INTO events (application_id, event_id, dedupe_key, type, device_id, creative_id, day, occurred_at, currency, value_nanos, payload)
    SELECT $1, sent.*
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::date[], $8::timestamptz[], $9::text[], $10::bigint[], $11::jsonb[]) AS sent
    ON CONFLICT DO NOTHING
    RETURNING application_id, day, creative_id, currency, type, value_nanos
  )
  INSERT INTO rollup_daily AS total
  SELECT application_id, day, creative_id, currency,
    count(*) FILTER (WHERE type = 'custom.ad'),
    coalesce(sum(value_nanos) FILTER (WHERE type = 'custom.ad'), 0),
    count(*) FILTER (WHERE type = 'custom.purchase'),
    coalesce(sum(value_nanos) FILTER (WHERE type = 'custom.purchase'), 0),
    count(*) FILTER (WHERE type = 'retention'),
    count(*) FILTER (WHERE type = 'custom')
  FROM recorded
  GROUP BY application_id, day, creative_id, currency
  ORDER BY application_id, day, creative_id, currency
  ON CONFLICT (application_id, day, creative_id, currency) DO UPDATE SET
    impressions = total.impressions + excluded.impressions,
    ad_revenue_nanos = total.ad_revenue_nanos + excluded.ad_revenue_nanos,
    purchases = total.purchases + excluded.purchases,
    purchase_revenue_nanos = total.purchase_revenue_nanos + excluded.purchase_revenue_nanos,
    sessions = total.sessions + excluded.sessions,
    custom_events = total.custom_events + excluded.custom_events`;

/** Stores and counts events once. When it returns, they are committed. */
export async function recordEvents(pool: pg.Pool, applicationId: string, events: PeerEvent[]): Promise<void> {
  const column = <Name extends keyof PeerEvent>(name: Name) => events.map((event) => event[name]);
  await pool.query({
    // Named, so that each connection prepares it once.
    name: 'record',
    text: RECORD,
    values: [
      applicationId,
      column('eventId'),
      column('dedupeKey'),
      column('type'),
      column('deviceId'),
      column('creativeId'),
      column('day'),
      column('occurredAt'),
      column('currency'),
      column('valueNanos'),
      column('payload'),
    ],
  });
}

type Device = { applicationId: string; deviceId: string; creativeId: string };

/** Keys and tokens never change here, so each is read once and then remembered. */
export class Credentials {
  private readonly pool: pg.Pool;
  private readonly applications = new Map<string, string>();
  private readonly devices = new Map<string, Device>();

  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  async application(apiKey: string): Promise<string | null> {
    const remembered = this.applications.get(apiKey);
    if (remembered !== undefined) return remembered;
    const { rows } = await this.pool.query<{ id: string }>('SELECT id FROM applications WHERE api_key = $1', [
      apiKey,
    ]);
    const id = rows[0]?.id ?? null;
    if (id !== null) this.applications.set(apiKey, id);
    return id;
  }

  /** The devices of tokens, in their order; those that are not remembered are read together. */
  async devicesOf(tokens: readonly string[]): Promise<(Device | null)[]> {
    const unknown = [...new Set(tokens.filter((token) => !this.devices.has(token)))];
    if (unknown.length > 0) {
      const { rows } = await this.pool.query<Device & { token: string }>({
        name: 'devices',
        text: `SELECT token, application_id AS "applicationId", device_id AS "deviceId", creative_id AS "creativeId"
               FROM devices WHERE token = ANY($1::text[])`,
        values: [unknown],
      });
      for (const { token, ...device } of rows) this.devices.set(token, device);
    }
    return tokens.map((token) => this.devices.get(token) ?? null);
  }
}
