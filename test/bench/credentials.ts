import { signToken } from '../../src/devices/token.ts';
import { makeApplication, type Tenant } from './tenant.ts';
import type { BenchDevice } from './workload.ts';

export const TOKEN_SECRET = 'a-token-secret-of-the-benchmark-00000000';

export type Credentials = { applicationId: string; apiKey: string; tokens: string[] };

type TokenOf = Pick<BenchDevice, 'id' | 'acquiredDay'> & { creativeId: string | null };

/** An application and a token of each of these devices, in their order. */
export async function makeCredentials(
  db: D1Database,
  tenant: Tenant,
  name: string,
  devices: readonly TokenOf[],
): Promise<Credentials> {
  const { applicationId, apiKey } = await makeApplication(db, tenant, name);
  const times = { createdAt: Date.now(), expiresAt: Date.now() + 86_400_000 };
  const tokens = await Promise.all(
    devices.map(({ id, creativeId, acquiredDay }) =>
      signToken(
        {
          tokenId: id.replace('dev_', 'tok_'),
          applicationId,
          deviceId: id,
          creativeId,
          acquiredDay,
          shard: 0,
          ...times,
        },
        TOKEN_SECRET,
      ),
    ),
  );
  return { applicationId, apiKey, tokens };
}
