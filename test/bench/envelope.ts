import { pick } from '../helpers/random.ts';

/** The body of a webhook of the event mix, with an event id of its own. */
export function makeEnvelope(
  random: () => number,
  token: string,
  createdAt = '2026-01-12 10:00:00',
): Record<string, unknown> {
  const common = {
    created_at: createdAt,
    creativeToken: token,
    device_name: 'Pixel 9',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    utc_offset: '+01:00',
    app_version: '1.4.2',
    eid: crypto.randomUUID(),
  };
  const kind = random();
  const money = { value: Math.floor(random() * 20_000) / 1e6, currency: 'usd' };
  if (kind < 0.8) {
    const format = pick(random, ['rewarded_video', 'interstitial', 'banner', 'native', 'app_open']);
    const network = pick(random, ['admob', 'unity_ads', 'applovin', 'ironsource', 'meta_an', 'vungle']);
    return {
      ...common,
      type: 'custom.ad',
      payload: {
        ad_id: 'level_end',
        name: 'Level end',
        source: format,
        media_source: network,
        channel: 'paid',
        watch_time: 30,
        reward: true,
        total_ad_value: 1.25,
        ...money,
      },
    };
  }
  if (kind < 0.92)
    return {
      ...common,
      type: 'retention',
      retention_day: '2',
      payload: { retentionDay: '2', backfillDay: '1' },
    };
  if (kind < 0.98)
    return {
      ...common,
      type: 'custom',
      payload: { event_name: 'level_1', params: { value: '1', id: 'a', key: 'b' } },
    };
  return {
    ...common,
    type: 'custom.purchase',
    dk: `GPA.${common.eid}`,
    payload: {
      item_id: 'gold',
      item_name: 'Gold',
      status: 'completed',
      tr_id: `GPA.${common.eid}`,
      total_purchase_value: 4.99,
      ...money,
    },
  };
}
