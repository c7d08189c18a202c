import { type AuthenticatedApplication, type Fault, invalidRequest, toFaults } from '#http';
import { importFault } from '#lib/timestamp';
import { DeviceMetrics, deviceWarnings } from './device-metrics.ts';
import { fetchTokens } from './fetch-token.ts';

export type DeviceResult =
  | { index: number; token: string; warnings?: Fault[] }
  | { index: number; error: string; details: Fault[] };

function readItem(item: unknown, isImport: boolean): { data: DeviceMetrics } | { faults: Fault[] } {
  const { data, error } = DeviceMetrics.safeParse(item);
  if (!data) return { faults: toFaults(error) };
  const untimely = isImport ? importFault(data.created_at) : null;
  return untimely ? { faults: [untimely] } : { data };
}

/** Creates tokens for many devices independently: an invalid item does not affect the others. As idempotent as `fetchTokens`. */
export async function acceptDevices(
  env: Env,
  application: AuthenticatedApplication,
  items: readonly unknown[],
  isImport: boolean,
  now: number,
): Promise<DeviceResult[]> {
  const parsed = items.map((item) => readItem(item, isImport));
  const good = parsed.flatMap((result) => ('data' in result ? [result.data] : []));
  const tokens = good.length > 0 ? (await fetchTokens(env, application, good, now)).values() : [].values();
  return parsed.map((result, index) => {
    if ('faults' in result) {
      const { message, details } = invalidRequest(result.faults);
      return { index, error: message, details };
    }
    const warnings = deviceWarnings(result.data, now);
    return { index, token: tokens.next().value?.token ?? '', ...(warnings.length > 0 ? { warnings } : {}) };
  });
}
