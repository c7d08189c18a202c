import type { DestinationKind } from '../outbound.ts';
import { meta } from './meta.ts';
import { snap } from './snap.ts';
import { tiktok } from './tiktok.ts';

/** The conversions APIs, by the id of their network. */
export const CONVERSIONS: Readonly<Record<string, DestinationKind>> = { meta, tiktok, snap };
