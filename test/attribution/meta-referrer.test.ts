import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decryptMetaAd, isMetaKey, metaSourceOf } from '../../src/attribution/meta-referrer.ts';
import { encryptAd, META_REFERRER } from './meta-vector.ts';

const REFERRER = META_REFERRER.referrer;
const KEY = META_REFERRER.key;
const source = metaSourceOf(REFERRER) ?? { data: '', nonce: '' };

describe('an encrypted referrer', () => {
  it('names the ad under the names of Ads Manager', async () => {
    expect(await decryptMetaAd(source, KEY)).toEqual({
      network: 'meta',
      campaign: { ids: ['23854855793350700'], name: 'Test Campaign' },
      adset: { ids: ['23854855793420700'], name: 'AdSet1' },
      creative: { ids: ['23854855793500700', '23854864161090700'], name: 'Ad1' },
    });
  });

  it.each([
    ['as it is', REFERRER],
    ['encoded once more', encodeURIComponent(REFERRER)],
    ['with our click id before it', `click_id=clk_1.a.b&${REFERRER}`],
  ])('is found %s', (_, referrer) => {
    expect(metaSourceOf(referrer)).toEqual(source);
  });

  it('is refused with any digit changed, and with another key', async () => {
    const changed = (hex: string, at: number) =>
      hex.slice(0, at) + (Number.parseInt(hex[at] ?? '0', 16) ^ 1).toString(16) + hex.slice(at + 1);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('data', 'nonce', 'key'), fc.nat(), async (part, place) => {
        const all = { ...source, key: KEY };
        const { key, ...own } = { ...all, [part]: changed(all[part], place % all[part].length) };
        expect(await decryptMetaAd(own, key)).toBeNull();
      }),
    );
    expect(await decryptMetaAd(source, `${KEY}00`)).toBeNull();
    expect(await decryptMetaAd(source, 'key')).toBeNull();
  });

  it('keeps every digit of its ids', async () => {
    const digits = fc.bigInt(1n, 10n ** 20n);
    await fc.assert(
      fc.asyncProperty(digits, digits, digits, fc.string(), async (campaign, adset, ad, name) => {
        const fields = `"campaign_group_id":${campaign},"campaign_id":${adset},"adgroup_id":${ad}`;
        const plain = `{${fields},"campaign_group_name":${JSON.stringify(name)},"platform_position":null}`;
        expect(await decryptMetaAd(await encryptAd(plain), KEY)).toEqual({
          network: 'meta',
          campaign: { ids: [String(campaign)], name: name.toWellFormed() },
          adset: { ids: [String(adset)], name: '' },
          creative: { ids: [String(ad)], name: '' },
        });
      }),
    );
  });

  it.each(['', 'x', '[]', '{}', 'null', '{"campaign_group_id":1.5,"campaign_id":1,"adgroup_id":1}'])(
    'that contains %j names no ad',
    async (plain) => {
      expect(await decryptMetaAd(await encryptAd(plain), KEY)).toBeNull();
    },
  );
});

it.each([
  undefined,
  '',
  'utm_source=apps.facebook.com&utm_campaign=fb4a',
  'utm_source=apps.facebook.com&utm_campaign=fb4a&utm_content=banner',
  'utm_content=%7B%22app%22%3A1%7D',
  'utm_content=%7B%22source%22%3A%7B%22data%22%3A%22zz%22%2C%22nonce%22%3A%22d65685722f88f93e019002e4%22%7D%7D',
  'utm_content=%7B%22source%22%3Anull%7D',
  '%',
  '%25',
])('finds no ad in the referrer %s', (referrer) => {
  expect(metaSourceOf(referrer)).toBeNull();
});

it.each([
  [KEY, true],
  [KEY.toUpperCase(), true],
  [KEY.slice(1), false],
  [`${KEY}0`, false],
  ['g'.repeat(64), false],
])('tells whether %s can be a key', (text, expected) => {
  expect(isMetaKey(text)).toBe(expected);
});
