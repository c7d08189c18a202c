import { eq } from 'drizzle-orm';
import type { OutboundFilter } from '#catalogue';
import { applications, database, destinations, requireKnownDatabase } from '#db';
import { settingsOf } from '#env';
import { packageNameOf } from '#lib/store-urls';
import type { DestinationSetup } from '#networks/outbound';
import { activeSecrets, readSecrets } from '../secrets.ts';

/** What an object knows of its destination. */
export type Setup = {
  kind: string;
  events: readonly string[];
  filter: OutboundFilter;
  /** Why nothing is sent; null while it is on. */
  offReason: string | null;
  given: Omit<DestinationSetup, 'isTest'>;
  teamId: string;
  application: { id: string; name: string; stores: { ios: string | null; android: string | null } };
};

/** How long settings are used without asking whether they have changed. */
const KEPT_MS = 60_000;

/** Reads a destination, and keeps what it found until it is told of a change, or for a minute if that call is lost. */
export class SetupReader {
  private readonly load: (now: number) => Promise<Setup | null>;
  private known: { value: Setup | null; readAt: number } | null = null;
  private changes = 0;

  constructor(load: (now: number) => Promise<Setup | null>) {
    this.load = load;
  }

  /** Call it when the destination was changed. */
  forget(): void {
    this.known = null;
    this.changes++;
  }

  /** Null if it does not exist any more. Throws what `loadSetup` throws. */
  async read(now: number): Promise<Setup | null> {
    if (this.known && now - this.known.readAt < KEPT_MS) return this.known.value;
    const { changes } = this;
    const value = await this.load(now);
    // What was read before a change is out of date.
    if (changes === this.changes) this.known = { value, readAt: now };
    return value;
  }

  /** Whether it is off, as far as that is known. */
  get isOff(): boolean {
    return (this.known?.value?.offReason ?? null) !== null;
  }
}

/** Reads a destination; null if it does not exist any more. Throws if D1 does not respond, and for a kind or secrets that it cannot read. */
export async function loadSetup(env: Env, db: D1Database, id: string, now: number): Promise<Setup | null> {
  await requireKnownDatabase(db);
  const [row] = await database(db)
    .select({ destination: destinations, application: applications })
    .from(destinations)
    .innerJoin(applications, eq(applications.id, destinations.applicationId))
    .where(eq(destinations.id, id));
  if (!row) return null;
  const { destination, application } = row;
  const { credentials, secrets } = await readSecrets(
    settingsOf(env).KEY_ENCRYPTION_SECRET,
    destination.credentials,
  );
  const { id: applicationId, name, appleBundleId, appStoreId, androidStoreUrl } = application;
  const ios = appleBundleId ?? appStoreId;
  return {
    kind: destination.kind,
    ...{ events: destination.events, filter: destination.filter },
    offReason: destination.offSince === null ? null : (destination.offReason ?? ''),
    given: { settings: destination.settings, credentials, secrets: activeSecrets(secrets, now) },
    teamId: application.teamId,
    application: { id: applicationId, name, stores: { ios, android: packageNameOf(androidStoreUrl) } },
  };
}
