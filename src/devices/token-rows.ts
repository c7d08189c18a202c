import type { Draft, TokenStored } from './draft.ts';

type TokenRow = { id: string; deviceId: string };

/** The rows of the tokens of some drafts: which device each stands under so far. */
export class TokenRows {
  private readonly db: D1Database;
  private readonly applicationId: string;
  private readonly drafts: readonly Draft[];
  private readonly lifetime: { createdAt: number; expiresAt: number };
  private readonly stored = new Map<string, string>();

  constructor(
    db: D1Database,
    applicationId: string,
    drafts: readonly Draft[],
    lifetime: { createdAt: number; expiresAt: number },
  ) {
    this.db = db;
    this.applicationId = applicationId;
    this.drafts = drafts;
    this.lifetime = lifetime;
  }

  /** Inserts those that are stored at this point. Repeatable. */
  insert(at: TokenStored, deviceIdOf: (draft: Draft) => string): D1PreparedStatement[] {
    return this.insertRows(
      this.drafts
        .filter(({ tokenStored }) => tokenStored === at)
        .map((draft) => ({ id: draft.tokenId, deviceId: deviceIdOf(draft) })),
    );
  }

  /** Inserts what is missing, and moves what stands under another device than it turned out to be. Repeatable. */
  settle(deviceIdOf: (draft: Draft) => string): D1PreparedStatement[] {
    const moved = this.drafts.flatMap((draft) => {
      const [from, to] = [this.stored.get(draft.tokenId), deviceIdOf(draft)];
      return from !== undefined && from !== to ? [{ id: draft.tokenId, from, to }] : [];
    });
    return [
      ...(moved.length > 0
        ? [this.db.prepare(MOVE_TOKENS).bind(this.applicationId, JSON.stringify(moved))]
        : []),
      ...this.insert('last', deviceIdOf),
    ];
  }

  private insertRows(rows: readonly TokenRow[]): D1PreparedStatement[] {
    if (rows.length === 0) return [];
    for (const { id, deviceId } of rows) this.stored.set(id, deviceId);
    const { createdAt, expiresAt } = this.lifetime;
    return [
      this.db.prepare(INSERT_TOKENS).bind(this.applicationId, JSON.stringify(rows), createdAt, expiresAt),
    ];
  }
}

// Over ?1, the application, and ?2, the tokens as JSON.

const INSERT_TOKENS = `
  INSERT INTO tokens (id, application_id, device_id, created_at, expires_at)
  SELECT value ->> 'id', ?1, value ->> 'deviceId', ?3, ?4 FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`;

const MOVE_TOKENS = `
  UPDATE tokens SET device_id = value ->> 'to' FROM json_each(?2)
  WHERE tokens.device_id = value ->> 'from' AND tokens.id = value ->> 'id' AND tokens.application_id = ?1`;
