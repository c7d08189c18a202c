/** Valid bodies of each event type, to be varied. */
export const envelope = {
  retention: (
    creativeToken: string,
    more: Record<string, unknown> = {},
    payload: Record<string, unknown> = {},
  ) => ({
    type: 'retention',
    created_at: '2026-03-02 10:00:00',
    creativeToken,
    payload: { retentionDay: '1', backfillDay: '0', ...payload },
    ...more,
  }),
  purchase: (
    creativeToken: string,
    more: Record<string, unknown> = {},
    payload: Record<string, unknown> = {},
  ) => ({
    type: 'custom.purchase',
    created_at: '2026-03-02 10:00:00',
    creativeToken,
    payload: {
      item_id: 'gold',
      item_name: 'Gold',
      value: 4.99,
      currency: 'usd',
      status: 'completed',
      ...payload,
    },
    ...more,
  }),
  ad: (creativeToken: string, more: Record<string, unknown> = {}, payload: Record<string, unknown> = {}) => ({
    type: 'custom.ad',
    created_at: '2026-03-02 10:00:00',
    creativeToken,
    payload: {
      ad_id: 'main',
      source: 'banner',
      media_source: 'admob',
      value: 0.002,
      currency: 'usd',
      ...payload,
    },
    ...more,
  }),
  custom: (
    creativeToken: string,
    more: Record<string, unknown> = {},
    payload: Record<string, unknown> = {},
  ) => ({
    type: 'custom',
    created_at: '2026-03-02 10:00:00',
    creativeToken,
    payload: { event_name: 'level_1', params: { value: '3' }, ...payload },
    ...more,
  }),
};

export const deviceMetrics = (data: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => ({
  type: 'device-metrics',
  created_at: '2026-03-01T10:00:00.000Z',
  data: {
    device_name: 'Pixel',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    timezone: 'Europe/Berlin',
    ...data,
  },
  ...more,
});

/** Returns a copy of a body with a value set or, with `undefined`, removed. */
export function withField(body: unknown, path: string, value: unknown): unknown {
  const [head = '', ...rest] = path.split('.');
  const copy: Record<string, unknown> = { ...(body as Record<string, unknown>) };
  copy[head] = rest.length === 0 ? value : withField(copy[head], rest.join('.'), value);
  if (copy[head] === undefined) delete copy[head];
  return copy;
}
