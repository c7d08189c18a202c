import { and, asc, desc, eq, lt, type SQL, sql } from 'drizzle-orm';
import { auditLog, type Database, insertWhere } from '#db';
import { newId } from '#lib/ids';
import type { Caller } from './caller.ts';

/** Every recorded action of a person or an access token. */
export const AUDIT_ACTIONS = [
  'access_token.created',
  'access_token.revoked',
  'access_token.taken_over',
  'alert.changed',
  'alert.created',
  'alert.removed',
  'api_key.regenerated',
  'intake_secret.created',
  'api_key.shown',
  'adset.external_ids_saved',
  'app_store_app.confirmed',
  'app_store_app.moved',
  'application.changed',
  'application.created',
  'application.deleted',
  'campaign.external_ids_saved',
  'channel.created',
  'channel.removed',
  'connector.backfill',
  'connector.created',
  'connector.credentials_replaced',
  'connector.removed',
  'connector.run',
  'cost_names.mapped',
  'cost_names.unmapped',
  'costs.columns_changed',
  'costs.deleted',
  'costs.uploaded',
  'counting.resumed',
  'creative.archived',
  'creative.link_changed',
  'creative.network_changed',
  'creative.created',
  'creative.external_ids_saved',
  'creative.unarchived',
  'destination.changed',
  'destination.created',
  'destination.removed',
  'destination.replayed',
  'destination.secret_rotated',
  'destination.tested',
  'device.erased',
  'exchange_rates.uploaded',
  'member.invitation_withdrawn',
  'member.invited',
  'member.joined',
  'member.password_changed',
  'member.second_factor_added',
  'member.second_factor_removed',
  'member.passkey_added',
  'member.passkey_removed',
  'member.password_reset',
  'member.password_reset_created',
  'member.removed',
  'member.role_changed',
  'note.changed',
  'note.created',
  'note.removed',
  'parked_message.discarded',
  'parked_message.replayed',
  'share_link.created',
  'share_link.revoked',
  'skan_schema.saved',
  'team.created',
  'token.revoked',
  'view.removed',
  'view.saved',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** A subject may list any number of names. */
const MAX_SUBJECT_CHARACTERS = 5_000;

/**
 * The statement that records a change. It belongs in the change's own batch, so that neither is written without the other. If the change
 * may turn out to be a no-op, put this statement before it, with the change's condition as `when`. `subject` names what the action was done to,
 * in readable form, and is never a secret. SQL is evaluated in the same transaction. Cut after 5,000 characters. `id` identifies the row: a
 * transaction that is repeated with the same id writes it once.
 */
export function auditStatement(
  { db, team, actor, now }: Caller,
  action: AuditAction,
  subject: string | SQL<string>,
  when: SQL = sql`true`,
  id = newId('aud'),
) {
  const shortened = sql<string>`substr(${subject}, 1, ${MAX_SUBJECT_CHARACTERS})`;
  const row = { teamId: team.id, id, at: now, actor, action, subject: shortened };
  return insertWhere(db, auditLog, row, when).onConflictDoNothing();
}

/** One page of a team's log, newest first; `before` is the previous page's last id. `action` and `actor` select entries. */
export async function listAudit(
  db: Database,
  teamId: string,
  page: { limit: number; before?: string; action?: string; actor?: string },
) {
  const { before, action, actor } = page;
  return db
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.teamId, teamId),
        before ? lt(auditLog.id, before) : undefined,
        action ? eq(auditLog.action, action) : undefined,
        actor ? eq(auditLog.actor, actor) : undefined,
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(page.limit);
}

/** Everyone in a team's log: people's emails and access tokens, in alphabetical order. */
export async function listActors(db: Database, teamId: string): Promise<string[]> {
  const { actor } = auditLog;
  const rows = await db
    .selectDistinct({ actor })
    .from(auditLog)
    .where(eq(auditLog.teamId, teamId))
    .orderBy(asc(actor));
  return rows.map((row) => row.actor);
}
