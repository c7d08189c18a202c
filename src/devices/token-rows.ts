import { sql } from 'drizzle-orm';
import { columnList, named, prepareTemplate, tokens, toStatement } from '#db';
import type { Draft, TokenStored } from './draft.ts';

type TokenRow = { id: string; deviceId: string };
type MovedToken = { id: string; from: string; to: string };
/** Epoch milliseconds. */
type Lifetime = { createdAt: number; expiresAt: number };

/** The token rows of some drafts, and the device under which each is stored so far. */
export class TokenRows {
  private readonly db: D1Database;
  private readonly applicationId: string;
  private readonly drafts: readonly Draft[];
  private readonly lifetime: Lifetime;
  private readonly stored = new Map<string, string>();

  constructor(db: D1Database, applicationId: string, drafts: readonly Draft[], lifetime: Lifetime) {
    this.db = db;
    this.applicationId = applicationId;
    this.drafts = drafts;
    this.lifetime = lifetime;
  }

  /** Inserts the tokens that are stored at this point. Idempotent. */
  insert(at: TokenStored, deviceIdOf: (draft: Draft) => string): D1PreparedStatement[] {
    return this.insertRows(
      this.drafts
        .filter(({ tokenStored }) => tokenStored === at)
        .map((draft) => ({ id: draft.tokenId, deviceId: deviceIdOf(draft) })),
    );
  }

  /** Inserts missing tokens, and moves tokens to the device that they turned out to belong to. Idempotent. */
  correct(deviceIdOf: (draft: Draft) => string): D1PreparedStatement[] {
    const moved = this.drafts.flatMap((draft) => {
      const [from, to] = [this.stored.get(draft.tokenId), deviceIdOf(draft)];
      return from !== undefined && from !== to ? [{ id: draft.tokenId, from, to }] : [];
    });
    return [
      ...(moved.length > 0 ? [moveTokens(this.db, this.applicationId, moved)] : []),
      ...this.insert('last', deviceIdOf),
    ];
  }

  private insertRows(rows: readonly TokenRow[]): D1PreparedStatement[] {
    if (rows.length === 0) return [];
    for (const { id, deviceId } of rows) this.stored.set(id, deviceId);
    const { db, applicationId, lifetime } = this;
    return [insertTokens(db, { applicationId, rows: JSON.stringify(rows), ...lifetime })];
  }
}

const moveTokens = (db: D1Database, applicationId: string, moved: readonly MovedToken[]) =>
  toStatement(
    db,
    sql`UPDATE ${tokens} SET ${named(tokens.deviceId)} = value ->> 'to' FROM json_each(${JSON.stringify(moved)})
      WHERE ${tokens.deviceId} = value ->> 'from' AND ${tokens.id} = value ->> 'id'
        AND ${tokens.applicationId} = ${applicationId}`,
  );

const INSERTED = [tokens.id, tokens.applicationId, tokens.deviceId, tokens.createdAt, tokens.expiresAt];

const { placeholder } = sql;

/** `rows` is a JSON list of `TokenRow`. */
const insertTokens = prepareTemplate(
  sql`INSERT INTO ${tokens} (${columnList(INSERTED)})
    SELECT value ->> 'id', ${placeholder('applicationId')}, value ->> 'deviceId', ${placeholder('createdAt')}, ${placeholder('expiresAt')}
    FROM json_each(${placeholder('rows')}) WHERE true ON CONFLICT DO NOTHING`,
);

/** Deletes tokens. Idempotent. */
export const deleteTokens = (db: D1Database, applicationId: string, rows: readonly TokenRow[]) =>
  toStatement(
    db,
    sql`DELETE FROM ${tokens} WHERE ${tokens.applicationId} = ${applicationId}
      AND (${tokens.deviceId}, ${tokens.id}) IN
        (SELECT value ->> 'deviceId', value ->> 'id' FROM json_each(${JSON.stringify(rows)}))`,
  );
