import { expect, it } from 'vitest';
import { networkOfParams, toNetwork } from '#networks';

it.each([
  ['Facebook', 'meta'],
  ['fb', 'meta'],
  ['Meta Ads', 'meta'],
  ['googleadwords_int', 'google'],
  ['TikTok Ads', 'tiktok'],
  ['Snapchat', 'snap'],
  ['unityads_int', 'unity_ads'],
  // A mediation is not the network that ads are bought at.
  ['max', 'max'],
  ['  New\u00a0  Network ', 'new network'],
  ['x'.repeat(80), 'x'.repeat(64)],
  ['', ''],
  ['organic', ''],
  ['(not set)', ''],
  ['google-play', ''],
  ['apps.facebook.com', ''],
  ['{network}', ''],
  ['__NETWORK__', ''],
])('takes %j for %j', (text, network) => {
  expect(toNetwork(text)).toBe(network);
});

it.each([
  [{ network: 'tiktok', utm_source: 'google', gclid: '1' }, 'tiktok'],
  [{ media_source: 'moloco' }, 'moloco'],
  [{ pid: 'bytedanceglobal_int' }, 'tiktok'],
  [{ utm_source: 'newsletter', fbclid: '1' }, 'newsletter'],
  // A macro that nobody replaced names nothing.
  [{ network: '{network}', ttclid: '1' }, 'tiktok'],
  [{ gbraid: '1' }, 'google'],
  [{ msclkid: '1' }, 'microsoft'],
  [{ gclid: '' }, ''],
  [{ utm_source: 'google-play', utm_medium: 'organic' }, ''],
  [{}, ''],
])('finds the network in %j', (params, network) => {
  expect(networkOfParams(params)).toBe(network);
});
