import * as fc from 'fast-check';
import { expect } from 'vitest';
import { LoggedEvent } from '#catalogue';
import { envelope } from '../helpers/envelopes.ts';
import { eventsIn } from '../helpers/worker.ts';
import { type Mutation, mutate, mutations, toText } from './fuzz-bodies.ts';

// Events that are nearly right, of each kind.

export const KINDS = ['retention', 'purchase', 'ad', 'custom'] as const;
export type Kind = (typeof KINDS)[number];
const ENVELOPE = [
  ...['type', 'created_at', 'creativeToken', 'device_name', 'device_model', 'os_system', 'utc_offset'],
  ...['retention_day', 'app_version', 'sdk_version', 'sdk_type', 'wp', 'bp', 'payload'],
];
/** What makes an event a repeat, or two events one session: made different for each event wherever it is text or a number. */
const KEYS = ['event_id', 'eid', 'dedupe_key', 'dk', 'payload.tr_id', 'payload.session_id', 'payload.sid'];
const PAYLOAD: Record<Kind, readonly string[]> = {
  retention: ['retentionDay', 'backfillDay'],
  purchase: ['item_id', 'item_name', 'value', 'currency', 'status', 'total_purchase_value'],
  ad: [
    ...['ad_id', 'name', 'source', 'media_source', 'channel', 'watch_time', 'reward', 'value', 'currency'],
    'total_ad_value',
  ],
  custom: ['event_name', 'params', 'params.value', 'params.key', 'params.id'],
};

let number = 0;
function unique([path, value]: Mutation): Mutation {
  if (!KEYS.includes(path.join('.'))) return [path, value];
  number++;
  if (typeof value === 'number') return [path, number];
  return typeof value === 'string' ? [path, `${number} ${value}`] : [path, value];
}

const event = fc.constantFrom(...KINDS).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    changes: mutations([
      ...ENVELOPE,
      ...KEYS,
      ...PAYLOAD[kind].map((name) => `payload.${name}`),
    ]) as fc.Arbitrary<Mutation[]>,
  }),
);

/** The texts of so many events, as a client would send them with this token. */
export function sampleEvents(token: string, count: number, seed: number): { kind: Kind; text: string }[] {
  const good: Record<Kind, unknown> = {
    retention: envelope.retention(token),
    purchase: envelope.purchase(token),
    ad: envelope.ad(token),
    custom: envelope.custom(token),
  };
  return fc
    .sample(event, { numRuns: count, seed })
    .map(({ kind, changes }) => ({ kind, text: toText(mutate(good[kind], changes.map(unique))) }));
}

/** Every event in these messages is one that the consumer, if it validated it again, would accept unchanged. */
export function expectChecked(messages: readonly { body: unknown }[]): void {
  for (const { body } of messages)
    for (const sent of eventsIn<unknown>(body)) expect(LoggedEvent.parse(sent)).toStrictEqual(sent);
}
