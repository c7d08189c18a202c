import { type AppleAnswer, readAppleAnswer } from '#attribution';
import { outboundFetch } from '#env';
import { logWarning } from '#lib/log';

const APPLE_URL = 'https://api-adservices.apple.com/api/v1/';
const TIMEOUT_MS = 5_000;

/**
 * Asks Apple which ad led to the device of an AdServices token. Null if there is no answer yet: Apple knows of a token a few seconds after it
 * was made, and answers 404 until then. Never throws.
 */
export async function askApple(env: Env, token: string): Promise<AppleAnswer | null> {
  try {
    const answer = await outboundFetch(env)(APPLE_URL, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: token,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await answer.text();
    if (answer.status === 400) return { outcome: 'refused' };
    const read = answer.status === 200 ? readAppleAnswer(text) : null;
    if (read === null && answer.status !== 404) {
      logWarning('no answer of Apple', `status ${answer.status}`);
    }
    return read;
  } catch (error) {
    logWarning('no answer of Apple', error);
    return null;
  }
}
