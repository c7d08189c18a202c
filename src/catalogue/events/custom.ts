import * as z from 'zod';
import { requiredName } from '#lib/input/fields';
import { descriptive, dropped } from '#lib/input/leniency';
import { CONTROL_FAULT, hasControlCharacters } from '#lib/input/one-line';
import { COUNTED_AS_ABSENT, placeholderName } from '#lib/input/placeholder';
import { present } from '#lib/input/present';
import { type EventKind, line } from '../kind.ts';
import { readParams } from '../params.ts';
import { count, type OwnFields, storedOfDevice, text } from '../stored.ts';
import { payload, wireForm } from '../wire.ts';

/** The prefix of funnel steps for custom events. */
export const EVENT_STEP = 'event:';
/** The prefix of custom events in a destination's `events`. */
export const CUSTOM_OUTBOUND = 'custom:';

/** The event name by which a backend reports ad requests for the fill rate. */
const AD_REQUEST = 'ad_request';
const REQUEST_COUNT = /^\d{1,6}$/;

const Custom = storedOfDevice('custom', () => ({
  event_name: text,
  params: z.record(z.string(), z.string()).optional(),
  /** Only of `ad_request` events: the number of requests, their placement and ad format. */
  ad_requests: z.object({ count, placement: z.string(), source: z.string() }).optional(),
}));
type Custom = z.infer<typeof Custom>;

function nameFault(text: string): string | null {
  if (hasControlCharacters(text)) return `${CONTROL_FAULT}; ignored`;
  const reason = placeholderName(text.trim());
  return reason === null ? null : `${reason}; ${COUNTED_AS_ABSENT}`;
}

/** What the parameters of an `ad_request` have to be, because reports count by them. */
const REQUEST_FAULTS = new Map<string, (text: string) => string | null>([
  [
    'value',
    (text) => (REQUEST_COUNT.test(text) ? null : 'must be a whole number from 0 to 999999; counted as 1'),
  ],
  ['id', nameFault],
  ['key', nameFault],
]);

function checkRequests(params: Record<string, string>): Record<string, string> {
  const checked = Object.entries(params).map(([name, text]) => {
    // A parameter that was dropped already is no text.
    const fault = typeof text === 'string' ? REQUEST_FAULTS.get(name)?.(text) : null;
    return [name, fault ? (dropped(fault) as never) : text] as const;
  });
  return Object.fromEntries(checked);
}

const asCustom = wireForm(
  'custom',
  payload({
    event_name: requiredName(),
    params: descriptive(
      z
        .record(z.string(), z.unknown(), { error: 'must be an object' })
        .nullish()
        .transform((params) => (params ? readParams(params) : undefined)),
    ),
  }).transform(({ params, ...custom }) => ({
    ...custom,
    params: params && custom.event_name === AD_REQUEST ? checkRequests(params) : params,
  })),
  {
    examples: {
      custom: { event_name: 'level_up', params: { value: '7' } },
      ad_request: {
        event_name: AD_REQUEST,
        params: { id: 'level_end', key: 'rewarded_video', value: '3' },
      },
    },
    /** Accepts the short names that SDKs send. */
    readPayload({ en, pr, event_name = en, params = pr, ...rest }) {
      return { ...rest, event_name, params };
    },
    toStored({ event_name, params: sent }): OwnFields<Custom> {
      const params = sent && present(sent);
      const requests = {
        count: Number(params?.value ?? 1),
        placement: params?.id ?? '',
        source: params?.key?.toLowerCase() ?? '',
      };
      return {
        event_name,
        ...(params ? { params } : {}),
        ...(event_name === AD_REQUEST ? { ad_requests: requests } : {}),
      };
    },
  },
);

/** Any other event that an application wants counted, by its name. */
export const custom = {
  type: 'custom',
  label: 'Custom event',
  description: 'Any other event, counted by its name. Use the name `ad_request` to report ad requests.',
  subject: 'device',
  stored: Custom,
  wires: [asCustom],
  columns: [
    { name: 'event_name', type: 'text' },
    { name: 'params', type: 'json' },
  ],
  keepsKeys: false,
  steps: {},
  count({ event_name, ad_requests: requests }, into) {
    if (!requests) {
      into.addDaily({ custom_events: 1 });
      into.addCustom(event_name, { custom_events: 1 });
      return;
    }
    const { source, placement } = requests;
    into.addDaily({ ad_requests: requests.count });
    into.addAds({ currency: '', source, media_source: '', placement }, { ad_requests: requests.count });
  },
  stepOf: ({ event_name }) => `${EVENT_STEP}${event_name}`,
  outboundAs: ({ event_name }) => `${CUSTOM_OUTBOUND}${event_name}`,
  summarise: ({ event_name }) => line(event_name),
  toWire: ({ event_name, params }) => ({ type: 'custom', payload: { event_name, params } }),
} as const satisfies EventKind<Custom>;
