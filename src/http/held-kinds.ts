import { getTableColumns, sql } from 'drizzle-orm';
import { database, jsonValues, rejections } from '#db';
import { logWarning } from '#lib/log';

const MAX_KINDS_HELD = 100;

/** The stored facts about the last request of a kind. Values are those of the fields at fault, truncated, and never tokens. */
export type RequestSample = {
  request_id: string;
  type?: string;
  values: { path: string; value: string }[];
};

/** Requests with the same fault. */
export type RequestKind = {
  /** Empty if the credential did not identify an application. */
  applicationId: string;
  endpoint: string;
  status: number;
  error: string;
  count: number;
  at: number;
  sample: RequestSample;
};

const COLUMNS = jsonValues(Object.values(getTableColumns(rejections)));

/**
 * What an isolate notes of requests until it is written, by kind, so that however many there are, few are written. What is held is lost if the
 * isolate ends: it helps people debug and need not be complete.
 */
export class HeldKinds {
  private readonly held = new Map<string, RequestKind>();

  /** `count` is 1 unless given. */
  hold({ count = 1, ...kind }: Omit<RequestKind, 'count'> & { count?: number }): void {
    const name = JSON.stringify([kind.applicationId, kind.endpoint, kind.status, kind.error]);
    const known = this.held.get(name);
    if (known) {
      known.count += count;
      known.at = kind.at;
      known.sample = kind.sample;
    } else if (this.held.size < MAX_KINDS_HELD) {
      this.held.set(name, { ...kind, count });
    }
  }

  /** Writes what is held. Nothing depends on it, so a failure is not retried. */
  async flush(d1: D1Database): Promise<void> {
    const rows = [...this.held.values()].map(({ applicationId, at, sample, ...kind }) => ({
      ...{ application_id: applicationId, ...kind },
      ...{ first_at: at, last_at: at, sample: JSON.stringify(sample) },
    }));
    this.held.clear();
    if (rows.length === 0) return;
    try {
      await database(d1)
        .insert(rejections)
        .select(sql`SELECT ${COLUMNS} FROM json_each(${JSON.stringify(rows)}) WHERE true`)
        .onConflictDoUpdate({
          target: [rejections.applicationId, rejections.endpoint, rejections.status, rejections.error],
          set: {
            count: sql`${rejections.count} + excluded.count`,
            lastAt: sql`excluded.last_at`,
            sample: sql`excluded.sample`,
          },
        });
    } catch (error) {
      logWarning('notes of requests not kept', error);
    }
  }
}
