import { describe, expect, it } from 'vitest';
import { KIND_NAMES, kindOf } from '#destinations';
import { NETWORKS } from '#networks';
import type { Setup } from '../../src/destinations/object/setup.ts';
import { testEventOf } from '../../src/destinations/object/test-event.ts';
import { MACROS } from '../../src/destinations/template.ts';

const NOW = Date.UTC(2026, 2, 27, 12);
const TYPES = ['install', 'purchase', 'ad', 'retention', 'refund', 'custom:level'];
const URL_OF = 'https://receiver.example.com/';

/** Of each kind: what it cannot do without. */
const SETTINGS: Record<string, Record<string, string>> = {
  webhook: { url: URL_OF },
  postback: { method: 'GET', url: URL_OF },
  meta: { dataset_id: '1', test_event_code: 'T' },
  tiktok: { tiktok_app_id: '1', test_event_code: 'T', app_and_ad: 'true' },
  snap: { snap_app_id: '1', test_event_code: 'T' },
};

const setupOf = (kind: string, settings: Record<string, string>, changes: Partial<Setup> = {}): Setup => ({
  ...{ kind, events: ['install'], filter: {}, offReason: null, teamId: 'tm_1' },
  given: {
    settings,
    credentials: { access_token: 'token', secret: 'secret' },
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  },
  application: { id: 'app_1', name: 'Puzzle', stores: { ios: 'com.example.ios', android: 'com.example' } },
  ...changes,
});

/** The test as it is sent, in text; or why it is skipped. */
async function tried(setup: Setup): Promise<{ type: string; sent?: string; skipped?: string }> {
  const event = await testEventOf(setup, NOW);
  const { type } = event;
  const prepared = await kindOf(setup.kind).prepare(event, { ...setup.given, isTest: true }, NOW);
  if ('skipped' in prepared) return { type, skipped: prepared.skipped };
  return { type, sent: `${prepared.url} ${prepared.body ?? ''}` };
}

const postback = (query: string, changes: Partial<Setup> = {}) =>
  tried(setupOf('postback', { method: 'GET', url: `${URL_OF}?${query}` }, changes));

it.each(KIND_NAMES)('sends a test of each type that %s takes', async (kind) => {
  const settings = { ...SETTINGS[kind] };
  if (kind !== 'webhook' && kind !== 'postback') {
    settings.event_names = 'refund = Refund\ncustom:level = Level';
  }
  for (const type of TYPES) {
    expect(await tried(setupOf(kind, settings, { events: [type] })), type).toEqual({
      type,
      sent: expect.stringContaining('https://'),
    });
  }
});

it.each([
  ['snap', '"sc_click_id":"test"'],
  ['tiktok', '"callback":"test","attributed":true'],
  ['meta', `"fbc":"fb.1.${NOW}.test"`],
])('has the click id of %s', async (kind, part) => {
  expect((await tried(setupOf(kind, SETTINGS[kind] ?? {}))).sent).toContain(part);
});

it.each(NETWORKS.flatMap(({ name, postback: preset }) => (preset ? [{ name, preset }] : [])))(
  'sends a test of the preset of $name, with all of its values',
  async ({ preset: { method, url, events } }) => {
    const filled = url.replaceAll(/<[^<>]*>/g, '1234');
    const { sent } = await tried(setupOf('postback', { method, url: filled }, { events: [...events] }));
    const { searchParams } = new URL(sent?.trim() ?? '');
    const empty = [...searchParams].filter(([, value]) => value === '').map(([name]) => name);
    // A device has one of the two.
    expect(empty.filter((name) => name !== 'idfa')).toEqual([]);
  },
);

describe('a postback', () => {
  it.each(Object.entries(MACROS))('is sent with {%s}', async (name, { argument, isArgumentOptional }) => {
    const macro = argument === undefined || isArgumentOptional ? `{${name}}` : `{${name}.level}`;
    const { sent } = await postback(`x=${macro}`, { events: TYPES });
    expect(sent).toMatch(/\?x=[^&\s]+ $/);
  });

  it('has an event of the first type that has what its template needs', async () => {
    expect(await postback('x={value}', { events: ['install', 'purchase'] })).toMatchObject({
      type: 'purchase',
    });
  });

  it('says why it is skipped, if no event has what its template needs', async () => {
    const skipped = 'The event has no {value}';
    expect(await postback('x={value}')).toEqual({ type: 'install', skipped });
    const onAndroid = { filter: { os: 'android' } };
    expect(await postback('x={idfa}', onAndroid)).toMatchObject({ skipped: 'The event has no {idfa}' });
  });

  it('has what the filter asks for', async () => {
    const filter = { os: 'ios', country: 'de', network: 'meta', campaign_id: 'cmp_9' };
    const { sent } = await postback('x={os}-{country}-{network}-{campaign_id}-{store_id}', { filter });
    expect(sent).toContain('?x=ios-DE-meta-cmp_9-com.example.ios');
  });
});

it('has the parameters that a webhook is to be sent', async () => {
  const settings = { url: URL_OF, properties: 'level, mode' };
  const { sent } = await tried(setupOf('webhook', settings, { events: ['custom:level'] }));
  expect(sent).toContain('"properties":{"level":"test","mode":"test"}');
});
