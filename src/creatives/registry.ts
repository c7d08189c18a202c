import { DurableObject } from 'cloudflare:workers';
import { getOrCreate, type MadeCreative, type Minted, undo, type WantedCreative } from './get-or-create.ts';

/** Stored under this name: the ids of calls that failed without it being known whether D1 had kept them. */
const UNCONFIRMED = 'unconfirmed';
/** A stored value takes 2 MB; so many failures in a row are an outage, in which nothing is kept anyway. */
const MAX_UNCONFIRMED = 2_000;

/**
 * Makes the creatives of one application, one at a time. The platform's input gates do not cover waits for D1, so calls queue
 * up on a promise. D1's unique indexes stand behind it, for the moment when a second object takes over from a first.
 */
export class CreativeRegistry extends DurableObject<Env> {
  /** The database; an own field so that a test may put a failing one in its place. */
  db: D1Database = this.env.DB;
  private last: Promise<unknown> = Promise.resolve();

  /** Repeatable: see `getOrCreate`. A call that fails leaves nothing behind, and the object ready for the next. */
  async create(wanted: WantedCreative): Promise<MadeCreative> {
    const made = this.last.then(() => this.createNext(wanted));
    this.last = made.catch(() => undefined);
    return made;
  }

  /** Forgets what it remembers, once its application is deleted. Repeatable. */
  async deleteAll(): Promise<void> {
    await this.last;
    await this.ctx.storage.deleteAll();
  }

  /**
   * A transaction may be kept although its answer got lost. Whoever is told of a failure must not have taken a name, so what
   * such a call may have made is taken back: at once, or where D1 does not answer together with the next call.
   */
  private async createNext(wanted: WantedCreative): Promise<MadeCreative> {
    const unconfirmed = (await this.ctx.storage.get<Minted[]>(UNCONFIRMED)) ?? [];
    try {
      const made = await getOrCreate(this.db, wanted, unconfirmed);
      if (unconfirmed.length > 0) await this.ctx.storage.delete(UNCONFIRMED);
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
