import type { Fetch } from '#lib/input/fetch';
import { readText } from '#lib/input/read-text';
import type { OutboundRequest } from '#networks/outbound';

const TIMEOUT_MS = 15_000;
/** What is read of an answer. */
const MAX_ANSWER_BYTES = 16_384;

/** What a receiver answered, or why there is no answer. */
export type SendAnswer = { tookMs: number } & (
  | { status: number; headers: Record<string, string>; body: string }
  | { status: null; reason: string }
);

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `No answer within ${TIMEOUT_MS / 1000} s`;
  return `No complete answer: ${error instanceof Error ? error.message : String(error)}`;
}

/** Sends one request. An answer that breaks off is none: the receiver may not have done what it was asked. Does not throw. */
export async function sendOne(
  { method, url, headers, body }: Pick<OutboundRequest, 'method' | 'url' | 'headers' | 'body'>,
  fetcher: Fetch,
): Promise<SendAnswer> {
  const start = Date.now();
  const limit = new AbortController();
  // Unlike `AbortSignal.timeout`, it ends with the request, and an object that waits for nothing else can end too.
  const timer = setTimeout(() => limit.abort(new DOMException('Too slow', 'TimeoutError')), TIMEOUT_MS);
  try {
    const answer = await fetcher(url, {
      ...{ method, headers: { ...headers }, body },
      // Only the URL that was set up has been checked.
      redirect: 'manual',
      signal: limit.signal,
    });
    const { text } = await readText(answer.body, MAX_ANSWER_BYTES);
    const tookMs = Date.now() - start;
    return { tookMs, status: answer.status, headers: Object.fromEntries(answer.headers), body: text };
  } catch (error) {
    return { tookMs: Date.now() - start, status: null, reason: reasonOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
