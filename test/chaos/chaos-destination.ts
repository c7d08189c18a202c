import { DestinationObject } from '../../src/destinations/object/destination.ts';
import type { ChaosBindings } from './chaos-counter.ts';
import { failingDatabase, mayDie } from './faults.ts';

/** The service's destination over a database that fails, which dies at random: when it is called, when it begins and ends to send, and while it does. */
export class ChaosDestination extends DestinationObject {
  private readonly seed: string;

  constructor(ctx: DurableObjectState, env: ChaosBindings) {
    super(ctx, { ...env, DB: failingDatabase(env.DB, env.CHAOS_SEED) });
    this.seed = env.CHAOS_SEED;
    const { deliver } = this;
    this.deliver = (...args) => this.mayDie(() => deliver(...args));
  }

  private mayDie<Result>(work: () => Promise<Result>): Promise<Result> {
    return mayDie(this.ctx, this.seed, work);
  }

  override accept(...args: Parameters<DestinationObject['accept']>) {
    return this.mayDie(() => super.accept(...args));
  }

  override alarm(): Promise<void> {
    return this.mayDie(() => super.alarm());
  }
}
