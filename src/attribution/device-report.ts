import type { PLAY_TIMES } from './play-referrer.ts';
import { readingsOf } from './referrer.ts';

/** What `/fetch-token` reports about a device, as far as it helps to find its click. */
export type DeviceReport = {
  device_name: string;
  device_model: string;
  os_system: string;
  /** An IANA name. Anything else, such as the timestamp that some SDKs send, counts as unknown. */
  timezone: string;
  dpi?: number | undefined;
  window_height?: number | undefined;
  window_width?: number | undefined;
  install_referrer?: string | undefined;
  click_id?: string | undefined;
  creative_token?: string | undefined;
  /** The network that brought the device, if the sender knows it. */
  network?: string | undefined;
  ip?: string | undefined;
} & Partial<Record<(typeof PLAY_TIMES)[number], number | undefined>>;

/** The parameters in the Play Install Referrer's result, whether or not it was decoded on the way; null without our click id. */
export function paramsOf(referrer: string | undefined): Record<string, string> | null {
  for (const parameters of readingsOf(referrer)) {
    if (parameters.get('click_id')) return Object.fromEntries(parameters);
  }
  return null;
}
