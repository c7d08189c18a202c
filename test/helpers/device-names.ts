import { env } from 'cloudflare:workers';
import { shardOfName } from '#devices';

let made = 0;

/** The name of a new device that this counter of an application creates. */
export async function nameInShard(
  application: { id: string; shards: number },
  shard: number,
): Promise<string> {
  for (;;) {
    const name = `in-shard-${++made}`;
    if ((await shardOfName(env, application, name)) === shard) return name;
  }
}
