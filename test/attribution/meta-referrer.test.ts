import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decryptMetaAd, isMetaKey, metaSourceOf } from '../../src/attribution/meta-referrer.ts';

/** A test referrer and key. Source: github.com/EgorSigolaev/FacebookAdsDataExtractor, README. */
const REFERRER =
  'utm_source=apps.facebook.com&utm_campaign=fb4a&utm_content=%7B%22app%22%3A614892783859055%2C%22t%22%3A1685638522%2C%22source%22%3A%7B%22data%22%3A%228d3ed7aa9779f2a479d221b34d1206448c1f813a9940c637ea14002b1db828e3869dba9c5b700cf5cddc5fe0903a9c650be651bfb087522997b380602130f661d29b4ab2f46669b1d81629d5092d2409af0e608bc1e039697319cba3bd0cbb9708d9aa0f6c4ebdf49892c920854eff6563e0c1b422173329b9e5d2057a9c8954dd1e3c766fcc9db887e12455446473c1038583f38121cd4197c2d273db406eb4d60a91b4ee941ea8b6d45c27f5dc70456e94fe631a1c5dc19c5e53e21f96f50beef8422b8eddcddfe04008397b914aebe462c40f3b373a78c1eda3a19051ed844acfed13cc81d79f9b4fa2a3fd26897052cc4aa892546ffa4832927f9c0bba452bd13c3d7beed915970bb409d5ce9b7777509453fd651a095a9c70e2476090cac6c56bdb25a40978532f95c058df623cd0bbe8ff136b74bcb420d348e49e710b702eeb9d1e87a8c221abeb446712e1e59c3eacfc208e42ae3ca444d7e61737d462dcdb774c122a0dc520052652e19823372e%22%2C%22nonce%22%3A%22d65685722f88f93e019002e4%22%7D%7D';
const KEY = '12e6b3b611d6d77381d47cf85f261d9fcada95227d371b8eeb4b46189ac2a37f';
const source = metaSourceOf(REFERRER) ?? { data: '', nonce: '' };

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const nonce = 'd65685722f88f93e019002e4';
async function encrypt(text: string) {
  const key = await crypto.subtle.importKey('raw', bytes(KEY), 'AES-GCM', false, ['encrypt']);
  const cipher = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: bytes(nonce) },
    key,
    new TextEncoder().encode(text),
  );
  return { data: Buffer.from(cipher).toString('hex'), nonce };
}

describe('an encrypted referrer', () => {
  it('names the ad under the names of Ads Manager', async () => {
    expect(await decryptMetaAd(source, KEY)).toEqual({
      accountId: '969070227561957',
      campaign: { id: '23854855793350700', name: 'Test Campaign' },
      adset: { id: '23854855793420700', name: 'AdSet1' },
      ad: { id: '23854855793500700', name: 'Ad1' },
      otherAdId: '23854864161090700',
      platform: 'instagram',
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
        expect(await decryptMetaAd(await encrypt(plain), KEY)).toEqual({
          accountId: null,
          campaign: { id: String(campaign), name: name.toWellFormed() },
          adset: { id: String(adset), name: '' },
          ad: { id: String(ad), name: '' },
          otherAdId: null,
          platform: null,
        });
      }),
    );
  });

  it.each(['', 'x', '[]', '{}', 'null', '{"campaign_group_id":1.5,"campaign_id":1,"adgroup_id":1}'])(
    'that contains %j names no ad',
    async (plain) => {
      expect(await decryptMetaAd(await encrypt(plain), KEY)).toBeNull();
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
