import { DurableObject } from 'cloudflare:workers';
import { database } from '#db';
import {
  keepHeartbeat,
  noteDatabase,
  noteTold,
  type RememberedChannels,
  readHeartbeat,
  type ToTell,
} from './deployment-memory.ts';
import { getOrCreate, type MadeCreative, type Minted, undo, type WantedCreative } from './get-or-create.ts';
import { keepMade, missingCreatives } from './made-creatives.ts';
import { storedNamesOf } from './stored-names.ts';

/** Storage key of the ids of failed calls, for which it is unknown whether D1 committed them. */
const UNCONFIRMED = 'unconfirmed';
/** A stored value takes 2 MB. So many failures in a row are an outage, in which D1 commits nothing anyway. */
const MAX_UNCONFIRMED = 2_000;

/** Per call: each takes up to eight statements, of which an invocation has 1,000. */
const MAX_RECREATED = 120;

/**
 * Creates the creatives of one application, one at a time. The platform's input gates do not cover waits for D1, so calls queue up on a
 * promise. D1's unique indexes are the safeguard for the moment when a second object takes over from the first.
 */
export class CreativeRegistry extends DurableObject<Env> {
  /** The database. A field of its own, so that a test can substitute a failing one. */
  db: D1Database = this.env.DB;
  private last: Promise<unknown> = Promise.resolve();

  /** Idempotent: see `getOrCreate`. A failed call leaves nothing behind and does not affect later calls. */
  async create(wanted: WantedCreative): Promise<MadeCreative> {
    const made = this.last.then(() => this.createNext(wanted));
    this.last = made.catch(() => undefined);
    return made;
  }

  /**
   * Creates again, with the same ids, what it created in the last 30 days and the database no longer has, because it was restored to an earlier
   * time. Returns how many creatives; call it until none is left. Idempotent.
   */
  async recreate(): Promise<number> {
    const made = this.last.then(async () => {
      let created = 0;
      for await (const wanted of missingCreatives(this.ctx.storage, database(this.db))) {
        const { isIdTaken } = await getOrCreate(this.db, wanted);
        if (isIdTaken) await getOrCreate(this.db, { ...wanted, externalIds: [] });
        if (++created === MAX_RECREATED) break;
      }
      return created;
    });
    this.last = made.catch(() => undefined);
    return made;
  }

  /** Of the deployment, not of an application: see `noteDatabase`. */
  async noteDatabase(channels: RememberedChannels | null, now: number): Promise<ToTell | null> {
    return noteDatabase(this.ctx.storage, channels, now);
  }

  async noteTold(state: ToTell['state'], ids: string[]): Promise<void> {
    noteTold(this.ctx.storage, state, ids);
  }

  /** Of the deployment, too: when `keepHeartbeat` was last called (epoch milliseconds), or null. */
  async readHeartbeat(): Promise<number | null> {
    return readHeartbeat(this.ctx.storage);
  }

  async keepHeartbeat(at: number): Promise<void> {
    keepHeartbeat(this.ctx.storage, at);
  }

  /** Clears its storage after its application was deleted. Idempotent. */
  async deleteAll(): Promise<void> {
    await this.last;
    await this.ctx.storage.deleteAll();
  }

  /**
   * A transaction may be committed although its answer was lost. A caller that is told of a failure must not occupy a name, so what such a
   * call may have created is undone: at once or, if D1 does not respond, together with the next call.
   */
  private async createNext(wanted: WantedCreative): Promise<MadeCreative> {
    const unconfirmed = (await this.ctx.storage.get<Minted[]>(UNCONFIRMED)) ?? [];
    try {
      const names = await storedNamesOf(database(this.db), wanted.applicationId, wanted.names);
      const made = await getOrCreate(this.db, { ...wanted, names }, unconfirmed);
      if (made.isIdTaken) return made;
      if (unconfirmed.length > 0) await this.ctx.storage.delete(UNCONFIRMED);
      if (made.replayed === null) await keepMade(this.ctx.storage, { ...wanted, names }, Date.now());
      return made;
    } catch (error) {
      const left = [...unconfirmed, wanted.minted].slice(-MAX_UNCONFIRMED);
      await this.ctx.storage.put(UNCONFIRMED, left);
      await undo(this.db, wanted.teamId, left).then(
        () => this.ctx.storage.delete(UNCONFIRMED),
        () => undefined,
      );
      throw error;
    }
  }
}
