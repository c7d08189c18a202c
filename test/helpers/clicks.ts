import { clicksIn, type TestWorker } from './worker.ts';

export const ANDROID_AGENT =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36';
export const IPHONE_AGENT =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Version/17.4 Mobile/15E148 Safari/604.1';

export const STORES = {
  android_store_url: 'https://play.google.com/store/apps/details?id=com.example.game',
  ios_store_url: 'https://apps.apple.com/app/id123456789',
};

/** What an iPhone 15 measures on the landing page. */
export const IPHONE_MEASURES = {
  timezone: 'Europe/Berlin',
  screen_width: 393,
  screen_height: 852,
  pixel_ratio: 3,
  touch_points: 5,
};
/** What a backend sends of the same phone to `/fetch-token`. */
export const IPHONE_METRICS = {
  device_name: 'iPhone',
  device_model: 'iPhone15,4',
  os_system: 'iOS 17.4.1',
  timezone: 'Europe/Berlin',
  window_width: 1179,
  window_height: 2556,
  dpi: 460,
};
export const ANDROID_METRICS = { device_model: 'Pixel 8', os_system: 'Android 14' };

export type Sent = { id: string; body: unknown };

/**
 * Follows a link as a browser would; answers the click's id, the signed one that went along, and the queue's messages, which
 * are not delivered yet.
 */
export async function follow(
  worker: TestWorker,
  path: string,
  agent: string,
  address = '203.0.113.9',
  country?: Iso3166Alpha2Code,
) {
  const init: RequestInit<RequestInitCfProperties> = country ? { cf: { country } } : {};
  const response = await worker.request(path, {
    ...init,
    redirect: 'manual',
    headers: { 'User-Agent': agent, 'cf-connecting-ip': address },
  });
  const messages: Sent[] = worker.queue.take();
  const clickId = messages.flatMap(({ body }) => clicksIn(body))[0]?.id ?? '';
  const answer = `${response.headers.get('Location') ?? ''}${await response.text()}`;
  const publicId = /clk_[0-9a-f]{32}\.[\w-]{22}\.[\w-]{16}/.exec(answer)?.[0] ?? '';
  return { clickId, publicId, messages };
}

/** Sends what the landing page measures; answers the queue's messages, which are not delivered yet. */
export async function measure(
  worker: TestWorker,
  path: string,
  clickId: string,
  more: { agent?: string; address?: string; measures?: Record<string, unknown> } = {},
): Promise<{ status: number; messages: Sent[] }> {
  const response = await worker.request(path, {
    method: 'POST',
    headers: {
      'User-Agent': more.agent ?? IPHONE_AGENT,
      'cf-connecting-ip': more.address ?? '203.0.113.9',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ click_id: clickId, ...IPHONE_MEASURES, ...more.measures }),
  });
  return { status: response.status, messages: worker.queue.take() };
}
