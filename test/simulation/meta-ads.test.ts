import { expect, it } from 'vitest';
import { decryptMetaAd, metaSourceOf } from '../../src/attribution/meta-referrer.ts';
import { simulateDevices } from '../../src/cli/simulation/history.ts';
import {
  isNamedByMeta,
  linkSettings,
  metaAdOf,
  metaReferrer,
  newMetaKey,
} from '../../src/cli/simulation/meta-ads.ts';
import { Random } from '../../src/cli/simulation/random.ts';
import { CREATIVES } from '../../src/cli/simulation/world.ts';
import { CreativeChanges } from '../../src/creatives/list.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

it('names the ad of a creative as Meta does, in a referrer that only the key opens', async () => {
  const key = newMetaKey();
  for (const [place, { creative, campaign, adset, network }] of CREATIVES.entries()) {
    const id = metaAdOf(place);
    expect(id !== null).toBe(network === 'meta');
    expect(CreativeChanges.safeParse(linkSettings(place, { network })).error).toBeUndefined();
    if (id === null) continue;
    const source = metaSourceOf(await metaReferrer(place, key));
    const ad = source && (await decryptMetaAd(source, key));
    expect(ad).toMatchObject({
      creative: { name: creative },
      adset: { name: adset },
      campaign: { name: campaign },
    });
    expect(ad && new Set(ad.creative.ids)).toEqual(new Set([id]));
    expect(linkSettings(place, { network }).external_ids).toEqual([{ network: 'meta', id }]);
    expect(source && (await decryptMetaAd(source, newMetaKey()))).toBeNull();
  }
});

it('is of some of the Android devices of the last days', () => {
  const devices = simulateDevices(new Random(1), 500, 60, NOW, 1);
  const named = devices.filter((device) => isNamedByMeta(device, NOW));
  expect(named.length).toBeGreaterThan(3);
  for (const { model, creative } of named)
    expect([model.os.startsWith('Android'), CREATIVES[creative ?? -1]?.network]).toEqual([true, 'meta']);
});
