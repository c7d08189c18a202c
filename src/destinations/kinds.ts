import { CONVERSIONS, type DestinationKind } from '#networks/outbound';
import { postback } from './postback.ts';
import { webhook } from './webhook.ts';

/** By the `kind` of a destination. That of a conversions API is the network's id. */
const KINDS: Readonly<Record<string, DestinationKind>> = { webhook, postback, ...CONVERSIONS };
export const KIND_NAMES = Object.keys(KINDS) as [string, ...string[]];

/** Throws for a kind that this release does not know. */
export const kindOf = (kind: string): DestinationKind => {
  const found = KINDS[kind];
  if (!found) throw new Error(`This release knows no destination ${kind}`);
  return found;
};
