// What the examples are made of. Each stands for something that the reader has an own one of.

export const EXAMPLE = {
  application: 'app_019a9f3c5d7a7c3e8b1f2a4c6d8e0f12',
  retiredApplication: 'app_019a9f3c5d7a7c3e8b1f2a4c6d8e0f13',
  token: 'AQGan1pdenw-ix8qTG2OD4AZqfPF16fD6LHypMbY4PEg.c2lnbmF0dXJl',
  parked: 'prk_01975f3a7c2e7b3f9a1c2d3e4f5a6b7c',
  discarded: 'prk_01975f3a7c2e7b3f9a1c2d3e4f5a6b7d',
  event: 'evt_019a9f3c6a117d0c9c3d5e7f90a1b2c3',
  creative: 'crt_019a9f3c6b227e1d8d4e6f8091a2b3c4',
  link: 'q3VbYt0GmLxwZ2nE',
  click: 'clk_019a9f3c6c337f2e9e5f7091a2b3c4d5.AZqfPGsifh2NTm-AkaKzxA.c2lnbmF0dXJlLi4u',
  apiKey: 'appkey_c29tZSByYW5kb20gYnl0ZXMgb2YgYW4gZXhhbXBsZSBr',
  from: '2026-03-01',
  to: '2026-03-31',
} as const;

export const DEVICE_METRICS = {
  type: 'device-metrics',
  created_at: '2026-03-02T09:00:00.000Z',
  data: {
    device_name: 'Pixel 9',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    timezone: 'Europe/Berlin',
    dpi: 420,
    window_height: 2424,
    window_width: 1080,
  },
};

const envelope = {
  created_at: '2026-03-02 10:00:00',
  creativeToken: EXAMPLE.token,
  device_name: 'Pixel 9',
  device_model: 'Pixel 9',
  os_system: 'Android 16',
  utc_offset: '+01:00',
  retention_day: '0',
};

export const EVENTS = {
  retention: { type: 'retention', ...envelope, payload: { session_id: 'a3f1', retentionDay: '0' } },
  'custom.purchase': {
    type: 'custom.purchase',
    ...envelope,
    payload: {
      item_id: 'gems_500',
      item_name: '500 gems',
      value: 4.99,
      currency: 'usd',
      status: 'completed',
      total_purchase_value: 4.99,
      tr_id: 'GPA.3345-1122',
    },
  },
  'custom.ad': {
    type: 'custom.ad',
    ...envelope,
    payload: {
      ad_id: 'level_end',
      name: 'Level end',
      source: 'rewarded_video',
      media_source: 'admob',
      channel: 'paid',
      watch_time: 30,
      reward: true,
      value: 0.0125,
      currency: 'usd',
      total_ad_value: 0.0125,
    },
  },
  custom: { type: 'custom', ...envelope, payload: { event_name: 'level_up', params: { value: '7' } } },
  ad_request: {
    type: 'custom',
    ...envelope,
    payload: { event_name: 'ad_request', params: { id: 'level_end', key: 'rewarded_video', value: '3' } },
  },
};
