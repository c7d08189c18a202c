import { type Database, database } from '#db';
import type { AppContext } from '#http';

/**
 * On whose behalf something changes. A function that changes a team's data takes its caller first and writes the audit row in the same
 * transaction as the change: see `auditStatement`.
 */
export type Caller = {
  readonly db: Database;
  readonly team: { readonly id: string };
  /** The actor's name in the audit log: a person's email or an access token's id. */
  readonly actor: string;
  /** The time of the request, in epoch milliseconds. */
  readonly now: number;
};

/** The caller of a team API request: an access token. */
export function apiCaller(c: AppContext): Caller {
  const { id, accessTokenId } = c.get('team');
  return { db: database(c.env.DB), team: { id }, actor: `access token ${accessTokenId}`, now: Date.now() };
}
