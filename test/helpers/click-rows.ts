import { env } from 'cloudflare:workers';
import { type ClickRecord, clickStatements } from '#attribution';
import { newId } from '#lib/ids';

/** A click's id as if it had been made at this time. */
export const clickIdAt = (at: number) => `clk_${at.toString(16).padStart(12, '0')}${newId('clk').slice(16)}`;

/** What the landing page measures on an iPhone 15, without an address. */
export const IPHONE_CLICK: Pick<ClickRecord, 'os_family'> & Partial<ClickRecord> = {
  os_family: 'ios',
  os_version: '17.4',
  timezone: 'Europe/Berlin',
  screen_width: 393,
  screen_height: 852,
  pixel_ratio: 3,
};

/** Stores clicks of an application, each a millisecond older than the one before it; answers their ids. */
export async function storeClicks(
  applicationId: string,
  newest: number,
  clicks: readonly (Pick<ClickRecord, 'os_family'> & Partial<ClickRecord>)[],
): Promise<string[]> {
  const records = clicks.map((click, index) => ({
    application_id: applicationId,
    id: clickIdAt(newest - index),
    creative_id: 'crt_other',
    ...click,
  }));
  await env.DB.batch(clickStatements(env.DB, records));
  return records.map(({ id }) => id);
}
