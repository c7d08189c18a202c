import { readRetryAfter } from '#lib/input/retry-after';

/** `status` is 0 if no answer came, or not all of it; `text` then says why. */
export type ServiceAnswer = Pick<Response, 'ok' | 'status' | 'headers'> & { text: string };

/** Whether asking again would change nothing. A service that is busy, or restarts, answers otherwise in a moment. */
export const isFinal = ({ status }: ServiceAnswer): boolean => status !== 0 && status !== 429 && status < 500;

async function askOnce(url: string, init: RequestInit): Promise<ServiceAnswer> {
  try {
    const answer = await fetch(url, init);
    const { ok, status, headers } = answer;
    return { ok, status, headers, text: await answer.text() };
  } catch (error) {
    return { ok: false, status: 0, headers: new Headers(), text: String(error) };
  }
}

/** Asks a service until it answers for good or `attempts` are over. `waitMs` is the wait after an attempt, unless `Retry-After` asks for a longer one. */
export async function askService(
  url: string,
  init: RequestInit,
  { attempts, waitMs }: { attempts: number; waitMs: (attempt: number) => number },
  isEnough = isFinal,
): Promise<ServiceAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answered = await askOnce(url, init);
    if (attempt === attempts || isEnough(answered)) return answered;
    const askedMs = readRetryAfter(answered.headers, Date.now()) ?? 0;
    await new Promise((resolve) => setTimeout(resolve, Math.max(askedMs, waitMs(attempt))));
  }
}
