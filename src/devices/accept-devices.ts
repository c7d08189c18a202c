import { type AuthenticatedApplication, type Fault, invalidRequest, toFaults } from '#http';
import { DeviceMetrics, deviceWarnings } from './device-metrics.ts';
import { fetchTokens } from './fetch-token.ts';

export type DeviceResult =
  | { index: number; token: string; warnings?: Fault[] }
  | { index: number; error: string; details: Fault[] };

/** Creates tokens for many devices independently: an invalid item does not affect the others. As idempotent as `fetchTokens`. */
export async function acceptDevices(
  env: Env,
  application: AuthenticatedApplication,
  items: readonly unknown[],
  now: number,
): Promise<DeviceResult[]> {
  const parsed = items.map((item) => DeviceMetrics.safeParse(item));
  const good = parsed.flatMap((result) => (result.success ? [result.data] : []));
  const tokens = good.length > 0 ? (await fetchTokens(env, application, good, now)).values() : [].values();
  return parsed.map((result, index) => {
    if (!result.success) {
      const { message, details } = invalidRequest(toFaults(result.error));
      return { index, error: message, details };
    }
    const warnings = deviceWarnings(result.data, now);
    return { index, token: tokens.next().value?.token ?? '', ...(warnings.length > 0 ? { warnings } : {}) };
  });
}
