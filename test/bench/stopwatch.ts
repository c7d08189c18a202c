import { env } from 'cloudflare:workers';

export type Timing = { milliseconds: number; cpuMilliseconds: number };

const readCpuSeconds = async () => {
  const { CPU_SECONDS } = env as unknown as { CPU_SECONDS: Fetcher };
  return Number(await (await CPU_SECONDS.fetch('http://cpu-seconds/')).text());
};

/** Wall time of some work, and CPU time of the whole workerd meanwhile, for which an isolate has no clock. */
export async function timed(work: () => Promise<unknown>): Promise<Timing> {
  const cpuBefore = await readCpuSeconds();
  const startedAt = performance.now();
  await work();
  const milliseconds = performance.now() - startedAt;
  return { milliseconds, cpuMilliseconds: ((await readCpuSeconds()) - cpuBefore) * 1000 };
}

export const addTimings = (left: Timing, right: Timing): Timing => ({
  milliseconds: left.milliseconds + right.milliseconds,
  cpuMilliseconds: left.cpuMilliseconds + right.cpuMilliseconds,
});
