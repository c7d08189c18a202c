import { env } from 'cloudflare:workers';
import type { Counter } from '#counting';

type Method = Exclude<keyof Counter, number | symbol>;
/** A call of a method of the counter `name`. */
type Call = { name: string; method: string };
type Instead = (call: Call) => Promise<unknown> | undefined;

/** The real counters, whose calls are noted, and fail, wait for another call or are answered by the test on demand. */
export class WatchedCounters {
  /** The calls that were made, in order. */
  readonly calls: Call[] = [];
  private fault: { call: Method; when: 'before' | 'after'; retryable: boolean } | null = null;
  private interruption: { call: Method; work: () => Promise<unknown> } | null = null;
  private readonly instead: Instead;

  /** What `instead` answers for a call replaces the counter's answer; `undefined` lets the call through. */
  constructor(instead: Instead = () => undefined) {
    this.instead = instead;
  }

  /** The next such call fails: before it is made, or after, so that only its answer is lost. */
  failOn(call: Method, when: 'before' | 'after', more: { retryable?: boolean } = {}): void {
    this.fault = { call, when, retryable: more.retryable ?? false };
  }

  /** Something else happens right before the next such call. */
  interrupt(call: Method, work: () => Promise<unknown>): void {
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
          const call = { name: counter, method: name };
          this.calls.push(call);
          const answered = this.instead(call);
          if (answered !== undefined) return answered;
          const { interruption } = this;
          if (interruption?.call === name) {
            this.interruption = null;
            await interruption.work();
          }
          const fault = this.fault?.call === name ? this.fault : null;
          if (fault) this.fault = null;
          if (fault?.when === 'before') throw lost(fault);
          // A stub's method cannot be detached from it.
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
