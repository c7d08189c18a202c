import { Counter } from '../../src/counting/index.ts';
import { failingBucket, failingDatabase, mayDie } from './faults.ts';

export type ChaosBindings = Env & { HARNESS_URL: string; CHAOS_SEED: string };

const HOUR_MS = 3_600_000;

/**
 * The service's counter over stores that fail, which dies at random before or after it did what it was called for. It counts
 * soon and in small runs, so that there are many of them.
 */
export class ChaosCounter extends Counter {
  private readonly seed: string;

  constructor(ctx: DurableObjectState, env: ChaosBindings) {
    const seed = env.CHAOS_SEED;
    super(ctx, {
      ...env,
      DB: failingDatabase(env.DB, seed),
      RAW_EVENTS: failingBucket(env.RAW_EVENTS, seed),
    });
    this.seed = seed;
    this.waitMs = 300;
    this.fullRun = { events: 100, weight: 1_000_000 };
  }

  private mayDie<Result>(work: () => Promise<Result>): Promise<Result> {
    return mayDie(this.ctx, this.seed, work);
  }

  /** Lets an hour be over for all that is in the log, and the alarm ring, so that raw events leave for R2. */
  async ring(): Promise<void> {
    this.ctx.storage.sql.exec(`UPDATE log SET appended_at = appended_at - ${HOUR_MS}`);
    await this.ctx.storage.setAlarm(Date.now());
  }

  /** Whether destinations have all that was counted for them. */
  async isFed(): Promise<boolean> {
    return this.ctx.storage.sql.exec('SELECT 1 FROM outbound_parts LIMIT 1').toArray().length === 0;
  }

  /** Loses what it stored, and dies. */
  async lose(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.ctx.abort('lost');
  }

  override append(...args: Parameters<Counter['append']>) {
    return this.mayDie(() => super.append(...args));
  }

  override createOrFindDevices(...args: Parameters<Counter['createOrFindDevices']>) {
    return this.mayDie(() => super.createOrFindDevices(...args));
  }

  override settle(...args: Parameters<Counter['settle']>) {
    return this.mayDie(() => super.settle(...args));
  }

  override alarm(): Promise<void> {
    return this.mayDie(() => super.alarm());
  }
}
