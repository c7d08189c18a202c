import { type Database, database } from '#db';
import type { AppContext } from '#http';

/**
 * On whose behalf something is changed. A function that changes what a team has takes its caller first and writes its audit row in
 * the transaction of the change: see `auditStatement`.
 */
export type Caller = {
  readonly db: Database;
  readonly team: { readonly id: string };
  /** Who it was, as the audit log names them: a person's email, or an access token's id. */
  readonly actor: string;
  /** When it was asked for, epoch milliseconds. */
  readonly now: number;
};

/** The caller of the team API: an access token. */
export function apiCaller(c: AppContext): Caller {
  const { id, accessTokenId } = c.get('team');
  return { db: database(c.env.DB), team: { id }, actor: `access token ${accessTokenId}`, now: Date.now() };
}
