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
  ...['APPLOVIN_BIDDING', 'applovin_int', 'AppLovin', 'APPLOVIN_NETWORK'].map((name) => [name, 'applovin']),
  ...['UNITY_BIDDING', 'Unity Ads', 'unity-ads', 'UnityAds', 'unity'].map((name) => [name, 'unity_ads']),
  ...['Google AdMob', 'AdMob', 'ADMOB_BIDDING', 'admob'].map((name) => [name, 'admob']),
  ...['Meta Audience Network', 'Facebook Ads', 'Instagram Installs', 'meta_an'].map((name) => [name, 'meta']),
  ...['Off-Facebook Installs', 'Facebook Messenger Installs', 'facebook'].map((name) => [name, 'meta']),
  ...['Google Ads ACI', 'Google Ads ACE', 'Google Ads Search', 'Google Ads'].map((name) => [name, 'google']),
  ...['TikTok SAN', 'TikTok for Business (Android)', 'bytedanceglobal_int'].map((name) => [name, 'tiktok']),
  ...['Apple Search Ads', 'apple_search_ads', 'Apple Ads'].map((name) => [name, 'apple_ads']),
  ...['TIKTOK_BIDDING', 'Pangle', 'bytedance'].map((name) => [name, 'pangle']),
  ...['Twitter Installs', 'twitter ads', 'X'].map((name) => [name, 'x']),
  ...['Google Ad Manager', 'google_ad_manager', 'GOOGLE_AD_MANAGER_NETWORK'].map((name) => [
    name,
    'google_ad_manager',
  ]),
  ['Liftoff Monetize', 'vungle'],
  ['applovin_max', 'max'],
  // Not a name of a network.
  ['Google Organic Search', 'google organic search'],
  ['Network', 'network'],
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

it.each([
  [{ gclid: 'null', fbclid: '{{fbclid}}', ttclid: 'E.C.P' }, 'tiktok'],
  [{ gclid: '{gclid}' }, ''],
  [{ utm_source: '__SOURCE__', gclid: '__CLICKID__' }, ''],
])('finds only what says something in %j', (params, network) => {
  expect(networkOfParams(params)).toBe(network);
});
