import * as z from 'zod';
import { APPLE_FIELDS, METHODS, PLAY_TIMES } from '#attribution';
import { DOUBT_ACTIONS } from '#catalogue';
import { faults, nullableText, time } from '#http/answers';

export const TokenRevoked = z.object({ revoked: z.literal(true), revoked_at: time() });

const country = (description: string) => nullableText().meta({ description });

export const AttributionExplained = z.object({
  device_id: z.string(),
  acquired_at: time(),
  method: z.enum(Object.keys(METHODS)).optional(),
  confidence: z.number().optional().meta({
    description: 'From 0 to 1. It is 1 if the device named the click or the creative.',
  }),
  creative_id: nullableText().optional(),
  click_id: nullableText().optional().meta({
    description: 'The credited click. For `view_through`, the impression; its id begins with `imp_`.',
  }),
  ambiguous: z
    .boolean()
    .optional()
    .meta({ description: 'Whether another click matches the device equally well.' }),
  play_referrer: z
    .object({
      network: nullableText().meta({ description: 'The network whose click ID the install referrer has.' }),
      click_ids: z.record(z.string(), z.string()),
      ...Object.fromEntries(PLAY_TIMES.map((name) => [name, z.int().optional()])),
    })
    .optional()
    .meta({ description: 'What Google Play reported of the install. Times are in seconds since 1970.' }),
  meta_ad: z
    .object({
      campaign_id: z.string(),
      campaign: z.string(),
      adset_id: z.string(),
      adset: z.string(),
      ad_id: z.string(),
      ad: z.string(),
    })
    .optional()
    .meta({
      description: "The ad that Meta's install referrer named, whether or not a creative has its id.",
    }),
  apple_ads: z
    .object({
      outcome: z
        .enum(['attributed', 'not_attributed', 'refused', 'unanswered', 'not_asked'])
        .meta({ description: 'What came of asking Apple about the AdServices token.' }),
      ...Object.fromEntries(APPLE_FIELDS.map((name) => [name, z.string().optional()])),
    })
    .optional()
    .meta({
      description:
        'What Apple answered about the AdServices token, whether or not a creative has an id of the ad. Absent without a token, and until Apple was asked.',
    }),
  replaced: z
    .object({ method: z.string(), creative_id: nullableText(), click_id: nullableText() })
    .optional()
    .meta({ description: 'What the device was attributed to before Apple attributed it to an ad.' }),
  repeated: z.boolean().meta({
    description:
      'Whether other devices named the same click before. One click leads to one install, so this is a sign of fraud.',
  }),
  earlier_installs: z.int().meta({ description: 'The number of devices that named the same click before.' }),
  country: country('The country in which the device is counted, as an ISO 3166 code.'),
  country_source: z.enum(['data', 'click', 'timezone']).nullable().meta({
    description: "Where the country comes from: your backend, the credited click or the device's time zone.",
  }),
  network: nullableText().meta({
    description:
      "The network that brought the device: from the request, the link, the click's parameters or the install referrer. Null if none of them names one. A device without a creative has the network of the click id in its install referrer, if any.",
  }),
  click: z
    .object({
      clicked_at: time(),
      country: country('The country of the network address, as an ISO 3166 code.'),
      params: z
        .record(z.string(), z.string())
        .meta({ description: "The link's query parameters, such as the ad network's click ID." }),
      named_installs: z
        .int()
        .meta({ description: 'The number of devices that have named this click so far.' }),
    })
    .nullable()
    .meta({
      description:
        'The credited click, or the impression of the method `view_through`. Null if there is none, or if its window is over.',
    }),
  doubts: z
    .array(
      z.object({
        rule: z.string(),
        version: z.int(),
        action: z.enum(DOUBT_ACTIONS).exclude(['allow']),
        threshold: z.number().nullable(),
        reason: z.string().meta({ description: 'Completes “The install is doubtful: …”.' }),
      }),
    )
    .meta({ description: 'The rules that doubted the install when it came.' }),
  doubts_not_checked: z.array(z.string()).meta({
    description: 'The rules for which too little was known. That is not a clean result.',
  }),
  excluded: z
    .object({ method: z.string(), creative_id: nullableText(), click_id: nullableText() })
    .optional()
    .meta({ description: 'What the device would be attributed to if a rule did not exclude it.' }),
  refused_clicks: z
    .array(
      z.object({
        click_id: z.string(),
        creative_id: z.string(),
        clicked_at: time(),
        filter: z.string().meta({ description: 'The filter that refused the click.' }),
        reason: z.string().meta({ description: 'Completes “The click was not counted because …”.' }),
      }),
    )
    .meta({
      description:
        'The clicks that the device named or that are similar to it, but were not counted: up to 3, the newest first.',
    }),
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
  consent: z
    .object({
      lat: z.string().optional(),
      att_status: z.string().optional(),
      ad_user_data: z.string().optional(),
      ad_personalization: z.string().optional(),
    })
    .optional()
    .meta({
      description:
        "What the device told of the person's choices at its acquisition. `unknown` is a choice that was sent and not understood: it withholds every id from every destination.",
    }),
  warnings: faults.optional().meta({
    description:
      'What was dropped or replaced of the message that created the device. Absent if nothing was.',
  }),
});
export type AttributionExplained = z.input<typeof AttributionExplained>;

export const DeviceErased = z.object({
  erased: z.literal(true),
  tokens: z.int().meta({ description: 'Deleted tokens.' }),
  events: z.int().meta({ description: 'Deleted raw events that had not been exported yet.' }),
  files: z.enum(['pending', 'done']).meta({
    description: '`pending` while exported raw event files are rewritten in the background.',
  }),
});
