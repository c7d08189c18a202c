import { env } from 'cloudflare:workers';
import type { Counter } from '#counting';

type Call = Exclude<keyof Counter, number | symbol>;

/** Counters whose calls fail on demand, or are held up by another call; counts the calls. */
export class WatchedCounters {
  /** The calls that were made, in order: `<counter> <call>`. */
  readonly calls: string[] = [];
  private fault: { call: Call; when: 'before' | 'after'; retryable: boolean } | null = null;
  private interruption: { call: Call; work: () => Promise<unknown> } | null = null;

  /** The next such call fails: before it is made, or after, so that only its answer is lost. */
  failOn(call: Call, when: 'before' | 'after', more: { retryable?: boolean } = {}): void {
    this.fault = { call, when, retryable: more.retryable ?? false };
  }

  /** Something else happens right before the next such call. */
  interrupt(call: Call, work: () => Promise<unknown>): void {
    this.interruption = { call, work };
  }

  get faultsLeft(): number {
    return this.fault === null ? 0 : 1;
  }

  asBinding(): Env['COUNTERS'] {
    return new Proxy(env.COUNTERS, {
      get: (target, name) =>
        name === 'getByName' ? (counter: string) => this.watch(counter) : Reflect.get(target, name),
    });
  }

  private watch(counter: string) {
    const stub = env.COUNTERS.getByName(counter);
    return new Proxy(stub, {
      get: (_, name) => {
        if (typeof name !== 'string' || name === 'then') return undefined;
        return async (...values: unknown[]) => {
          this.calls.push(`${counter} ${name}`);
          const { interruption } = this;
          if (interruption?.call === name) {
            this.interruption = null;
            await interruption.work();
          }
          const fault = this.fault?.call === name ? this.fault : null;
          if (fault) this.fault = null;
          if (fault?.when === 'before') throw lost(fault);
          // A stub's method can't be taken off it.
          const answer: unknown = await (
            stub as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>
          )[name]?.(...values);
          if (fault) throw lost(fault);
          return answer;
        };
      },
    });
  }
}

const lost = ({ retryable }: { retryable: boolean }) =>
  Object.assign(new Error('Network connection lost.'), { retryable });
