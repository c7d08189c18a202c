import type { Fetch } from '#lib/input/fetch';
import { receiverFault } from '#lib/input/private-name';
import { readRetryAfter } from '#lib/input/retry-after';
import {
  type CostAnswer,
  type CostOutcome,
  type CostRequest,
  type CostRun,
  ReportFault,
} from '#networks/costs';
import type { ReportBudget } from './report-budget.ts';

// Sends the requests of a report and passes their answers on.

/** Waits, or its stand-in. */
export type Sleep = (ms: number) => Promise<void>;

const TIMEOUT_MS = 60_000;
/** Of an answer that is read as it arrives, and of one that is read as a whole, such as a page of 1,000 rows. */
const MAX_MB = 20;
const MAX_WHOLE_MB = 4;
/** An invocation has 1,000, and several connectors run in one. */
const MAX_REQUESTS = 200;
/** Longer waits are for the next run. */
const MAX_WAIT_MS = 120_000;

type Context = { fetcher: Fetch; sleep: Sleep; now: number; budget: ReportBudget };

/** Passes the text of a body on as it arrives. False if it has to be let go: see `ReportBudget`. */
async function passText(
  body: ReadableStream<Uint8Array> | null,
  { budget, maxMb, take }: { budget: ReportBudget; maxMb: number; take: (text: string) => void },
): Promise<boolean> {
  const decoder = new TextDecoder();
  let bytes = 0;
  // Whatever ends the loop cancels the body.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxMb * 1024 * 1024) throw new ReportFault(`an answer has more than ${maxMb} MB`);
    if (!budget.read(chunk.byteLength)) return false;
    take(decoder.decode(chunk, { stream: true }));
  }
  take(decoder.decode());
  return true;
}

async function send(request: CostRequest, context: Context): Promise<CostAnswer> {
  const { url, method = 'GET', headers = {}, body, reader } = request;
  const { fetcher, now, budget, sleep } = context;
  const fault = await receiverFault(url, { ports: '443' });
  if (fault) throw new ReportFault(`the address ${fault}`);
  const init = { method, headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  const answer = await fetcher(url, body === undefined ? init : { ...init, body }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new ReportFault(`${new URL(url).hostname} could not be reached: ${why}`);
  });
  const reading = answer.status === 200 ? reader?.() : undefined;
  const texts: string[] = [];
  const take = (text: string) => (reading ? reading.add(text) : texts.push(text));
  const maxMb = reading ? MAX_MB : MAX_WHOLE_MB;
  if (!(await passText(answer.body, { budget, maxMb, take }))) {
    await budget.turn(sleep);
    return send(request, context);
  }
  const retryAfterMs = readRetryAfter(answer.headers, now);
  return {
    status: answer.status,
    text: texts.join(''),
    retryAfterSeconds: retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000),
  };
}

/** Runs a report to its outcome. Throws a `ReportFault`. */
export async function runReport(run: CostRun, context: Context): Promise<CostOutcome> {
  let [requests, waitedMs] = [0, 0];
  for (let step = run.next(); ; ) {
    if (step.done) return step.value;
    const request: CostRequest = step.value;
    const waitMs = (request.afterSeconds ?? 0) * 1000;
    waitedMs += waitMs;
    if (waitedMs > MAX_WAIT_MS) throw new ReportFault('waiting took too long');
    if (++requests > MAX_REQUESTS) throw new ReportFault(`it takes more than ${MAX_REQUESTS} requests`);
    if (waitMs > 0) await context.sleep(waitMs);
    step = run.next(await send(request, context));
  }
}
