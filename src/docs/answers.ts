import * as z from 'zod';

// What the endpoints answer. Objects are closed: a field that is not listed here is not answered.

const time = () => z.iso.datetime();
export const day = () => z.iso.date();
export const nullableText = () => z.string().nullable();

export const Failure = z.object({ message: z.string() }).meta({ id: 'TeamError' });

const faults = z.array(z.object({ path: z.string(), message: z.string() }));
export const IngestionFailure = z
  .object({ success: z.literal(false), error: z.string(), details: faults.optional() })
  .meta({ id: 'IngestionError' });
export const FetchTokenFailure = z
  .object({ error: z.string(), success: z.literal(false).optional(), details: faults.optional() })
  .meta({ id: 'FetchTokenError' });

const warnings = faults.optional().meta({
  description: 'What was malformed and only described the event, so was dropped. Only where there is any.',
});

/** What became of each item: what it was answered, or what is wrong with it. */
const batchOf = (answered: z.ZodRawShape) =>
  z.object({
    success: z.literal(true),
    accepted: z.int(),
    rejected: z.int(),
    results: z.array(
      z.union([
        z.object({ index: z.int(), ...answered, warnings }),
        z.object({ index: z.int(), error: z.string(), details: faults }),
      ]),
    ),
  });

export const Token = z.object({ token: z.string() });

export const TokenBatch = batchOf({ token: z.string() });

export const TokenRevoked = z.object({ revoked: z.literal(true), revoked_at: time() });

export const VerifiedToken = z.object({
  success: z.literal(true),
  valid: z.literal(true),
  created_at: time(),
  expires_at: time(),
  creative: z
    .object({ name: z.string(), campaign: z.string(), adset: z.string() })
    .nullable()
    .meta({ description: 'What the device was attributed to; null where it is organic.' }),
});

export const CollectionStatus = z.object({
  success: z.literal(true),
  enabled: z.boolean(),
  server_time: time(),
});

export const EventTaken = z.object({
  success: z.literal(true),
  message: z.literal('Webhook Received'),
  event_id: z.string(),
  warnings,
});

export const BatchTaken = batchOf({ event_id: z.string() });

export const Application = z
  .object({
    id: z.string(),
    name: z.string(),
    timezone: z.string().meta({ description: 'IANA name; the days of every report are days in it.' }),
    currency: z.string().meta({ description: 'The reporting currency, lower-case ISO 4217.' }),
    data_collection: z.boolean(),
    ios_store_url: nullableText(),
    android_store_url: nullableText(),
    fallback_url: nullableText(),
    attribution_window_hours: z.int(),
    probabilistic_window_hours: z.int(),
    created_at: time(),
  })
  .meta({ id: 'Application' });
export const NewApplicationAnswer = z.object({ ...Application.shape, api_key: z.string() });
export const ApiKey = z.object({ api_key: z.string() });

export const list = <Item extends z.ZodType>(item: Item) =>
  z.object({ data: z.array(item), next_cursor: nullableText() });

const made = z.object({ name: z.string(), is_new: z.boolean() });
export const CreativeMade = z.object({
  message: z.literal('Creative created successfully'),
  creative: z.object({ name: z.string(), tracking_link: z.url() }),
  campaign: made,
  adset: made,
  application: z.object({ name: z.string() }),
});

export const Campaign = z.object({ id: z.string(), name: z.string(), created_at: time() });
export const Adset = z.object({
  id: z.string(),
  name: z.string(),
  campaign_id: z.string(),
  campaign: z.string(),
  created_at: time(),
});
export const Creative = z
  .object({
    id: z.string(),
    name: z.string(),
    tracking_link: z.url(),
    adset: z.string(),
    adset_id: z.string(),
    campaign: z.string(),
    campaign_id: z.string(),
    archived: z.boolean(),
    archived_at: time().nullable(),
    created_at: time(),
  })
  .meta({ id: 'Creative' });

const exactAmount = {
  amount: z.number(),
  amount_exact: z.string().optional().meta({ description: 'Only where `amount` may be rounded.' }),
};

export const Cost = z.object({
  date: day(),
  campaign: z.string(),
  adset: nullableText(),
  creative: nullableText(),
  currency: z.string(),
  amount: z.number(),
  impressions: z.int().nullable(),
  clicks: z.int().nullable(),
  matched: z.boolean(),
  updated_at: time(),
});

export const CostsDeleted = z.object({
  deleted: z.int(),
  amounts: z.array(z.object({ currency: z.string(), ...exactAmount })),
});

export const ExchangeRate = z.object({
  date: day(),
  currency: z.string(),
  base: z.string(),
  rate: z.number(),
  units: z.string(),
  worth: z.string(),
  source: z.enum(['team', 'reference']),
});

export const ApplicationDeleted = z.object({
  deleted: z.literal(true),
  id: z.string(),
  data: z.enum(['pending', 'done']),
});

export const CostsTaken = z.object({
  rows: z.int(),
  matched: z.int().meta({ description: 'Rows whose names the application has.' }),
  unmatched: z.int().meta({ description: 'The other rows. They count as spend all the same.' }),
  unmatched_names: z
    .array(z.object({ campaign: z.string(), adset: nullableText(), creative: nullableText() }))
    .meta({ description: 'The first 20 of them.' }),
});

export const RatesTaken = z.object({ date: day(), base: z.string(), rates: z.int() });

/** The fields differ by type, as they do where they come in. */
const EventShown = z
  .looseObject({
    event_id: z.string(),
    type: z.string(),
    created_at: time(),
    received_at: time(),
    day: day(),
    creative_id: nullableText(),
  })
  .meta({ id: 'Event' });
export const Events = list(EventShown);

export const EventStatus = z.object({
  event_id: z.string(),
  application_id: z.string().optional(),
  status: z.enum(['queued', 'counted', 'duplicate', 'ignored', 'parked']).meta({
    description:
      'An ignored event was taken and is kept, but counts in no report: a test event, one sent with a revoked token, or one of an erased device.',
  }),
  received_at: time(),
  logged_at: time()
    .optional()
    .meta({ description: 'When it left the queue for the log; absent once it is in a raw event file.' }),
  settled_by: time().optional().meta({
    description: 'It was counted, found a duplicate, ignored or parked at this time at the latest.',
  }),
  duplicate_of: z.string().optional().meta({ description: 'The event that was counted under the same key.' }),
  reason: z.string().optional().meta({ description: 'Why it was ignored or parked.' }),
  event: EventShown.optional(),
});

export const AttributionExplained = z.object({
  device_id: z.string(),
  acquired_at: time(),
  method: z.enum(['referrer', 'click_id', 'deep_link', 'probabilistic', 'organic']).optional(),
  confidence: z
    .number()
    .optional()
    .meta({ description: 'From 0 to 1; 1 where a click or a creative was named.' }),
  creative_id: nullableText().optional(),
  click_id: nullableText().optional(),
  ambiguous: z
    .boolean()
    .optional()
    .meta({ description: 'Another click speaks for the device just as well.' }),
  repeated: z.boolean().meta({
    description:
      'Other devices had named the same click before. One click brings one install, so this is a sign of fraud.',
  }),
  earlier_installs: z.int().meta({ description: 'How many devices had named the same click before.' }),
  country: nullableText().meta({ description: 'ISO 3166 code in lower case: where the device is counted.' }),
  country_source: z.enum(['data', 'click', 'timezone']).nullable().meta({
    description: "What told the country: your backend, the credited click, or the device's time zone.",
  }),
  click: z
    .object({
      clicked_at: time(),
      country: nullableText().meta({ description: 'ISO 3166 code in lower case, from the network.' }),
      params: z
        .record(z.string(), z.string())
        .meta({ description: "The link's query parameters, such as the ad network's click ID." }),
      named_installs: z.int().meta({ description: 'How many devices have named this click so far.' }),
    })
    .nullable()
    .meta({ description: 'The credited click. Null without one, or once its attribution window is over.' }),
  candidates: z.array(
    z.object({
      click_id: z.string(),
      creative_id: z.string(),
      clicked_at: time(),
      score: z.number().meta({ description: 'Bits of evidence.' }),
      probability: z.number(),
      facts: z.record(z.string(), z.number()),
    }),
  ),
});

export const DeviceErased = z.object({
  erased: z.literal(true),
  tokens: z.int(),
  events: z.int().describe('raw events that had not been exported yet'),
  files: z
    .enum(['pending', 'done'])
    .describe('whether exported raw events have been erased too, which is done in the background'),
});

export const Health = z.object({
  status: z.enum(['ok', 'degraded']),
  database_ms: z.int().describe('how long the database took'),
  pending_events: z.int().describe('taken, not counted yet'),
  pending_for_ms: z.int().describe('how long the oldest of them has waited'),
  slowest_delivery_ms: z.int().nullable().describe('from taking an event to its log, of the newest'),
  parked_messages: z.int(),
  applications: z.array(
    z.object({
      application_id: z.string(),
      status: z.enum(['ok', 'degraded']),
      pending_events: z.int().nullable().describe('null where counting did not answer'),
      pending_for_ms: z.int().nullable(),
      counted_through: z.iso.datetime().nullable().describe('everything taken by then is in the reports'),
      slowest_delivery_ms: z.int().nullable(),
      unwritten_parts: z.int().nullable().describe('counted, but not in the reports yet'),
      write_error: z.string().nullable().describe('why they are not, where the last try failed'),
    }),
  ),
  is_complete: z.boolean().describe('false where the team has more applications than one answer looks at'),
});

export const Parked = z.object({
  id: z.string(),
  application_id: z.string().nullable().describe('null where the message is too broken to tell'),
  reason: z.string(),
  parked_at: z.string(),
  body: z.string(),
});

export const ParkedReplayed = z.object({ replayed: z.literal(true), id: z.string() });

export const ParkedDiscarded = z.object({ discarded: z.literal(true), id: z.string() });
