import { eq } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { connectors } from '#db';
import { AppError, invalidRequest, toFaults } from '#http';
import { encryptText } from '#lib/crypto';
import type { Connector } from './answers.ts';
import { getConnector, showConnector, subjectOf, texts } from './connectors.ts';
import { kindOf } from './kinds.ts';

/** What was fetched belongs to one account. */
const fixed = z.never({ error: 'cannot be changed: add another connector' }).optional();

/** Body of `PATCH /v1/connectors/:id`. Which credentials it has depends on the connector's kind: see `KINDS`. */
export const ConnectorChanges = z.object({
  credentials: texts,
  application_id: fixed,
  kind: fixed,
  settings: fixed,
});
type ConnectorChanges = z.infer<typeof ConnectorChanges>;

/**
 * Replaces all credentials of a connector, which is due at once. What it fetched stays, and a run under way with the former ones changes nothing
 * of its state. Throws `not_found`, and `invalid_request` for credentials that its kind refuses.
 */
export async function replaceCredentials(
  caller: Caller,
  id: string,
  { credentials }: ConnectorChanges,
  encryptionSecret: string,
): Promise<Connector> {
  const { db, team, now } = caller;
  const { connector, application } = await getConnector(db, team.id, id);
  const kind = kindOf(connector.kind);
  if (!kind) throw new AppError('conflict', `This release knows no connector ${connector.kind}`);
  const { data, error } = kind.credentials.safeParse(credentials);
  if (error) {
    const faults = toFaults(error).map(({ path, message }) => ({ path: `credentials.${path}`, message }));
    throw invalidRequest(faults);
  }
  const set = {
    credentials: await encryptText(encryptionSecret, JSON.stringify(data)),
    ...{ nextRunAt: now, startedAt: null, job: null },
    ...{ lastError: null, failures: 0, credentialsExpireAt: null },
  };
  await db.batch([
    auditStatement(caller, 'connector.credentials_replaced', subjectOf(connector, application)),
    db.update(connectors).set(set).where(eq(connectors.id, id)),
  ]);
  return showConnector({ ...connector, ...set }, now);
}
