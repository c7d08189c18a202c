import { admob } from './admob.ts';
import { appleAds } from './apple-ads.ts';
import { applovin } from './applovin.ts';
import { google } from './google.ts';
import { ironsource } from './ironsource.ts';
import { liftoff } from './liftoff.ts';
import { meta } from './meta.ts';
import { mintegral } from './mintegral.ts';
import { moloco } from './moloco.ts';
import type { Network } from './network.ts';
import { snap } from './snap.ts';
import { tiktok } from './tiktok.ts';
import { unityAds } from './unity-ads.ts';
import { vungle } from './vungle.ts';

/** Every known network: those with the most advertisers first, then those that only show ads in apps. */
export const NETWORKS: readonly Network[] = [
  meta,
  google,
  appleAds,
  tiktok,
  snap,
  unityAds,
  applovin,
  ironsource,
  mintegral,
  moloco,
  liftoff,
  vungle,
  admob,
];
