import { env } from 'cloudflare:workers';
import type { Counter } from '#counting';

type Stub = DurableObjectStub<Counter>;
type Call = { name: string; method: string };

/**
 * The real counters, of which a test sees the calls. What `instead` answers for a call takes the place of its answer; `undefined`
 * lets it through.
 */
export function watchedCounters(instead: (call: Call) => Promise<unknown> | undefined = () => undefined) {
  const calls: Call[] = [];
  const getByName = (name: string): Stub =>
    new Proxy(env.COUNTERS.getByName(name), {
      get: (stub, method: keyof Stub & string) => {
        if (method in Promise.prototype) return undefined;
        return (...values: unknown[]) => {
          const call = { name, method };
          calls.push(call);
          const work = stub[method] as unknown as (...values: unknown[]) => unknown;
          return instead(call) ?? Reflect.apply(work, stub, values);
        };
      },
    });
  return { calls, binding: { getByName } as unknown as Env['COUNTERS'] };
}
