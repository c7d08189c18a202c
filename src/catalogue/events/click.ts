import * as z from 'zod';
import { type EventKind, line } from '../kind.ts';
import { OS_FAMILIES } from '../os.ts';
import { segmentWithoutDevice } from '../segments.ts';
import { keys, optionalText, storedWithoutDevice, text } from '../stored.ts';

/** How many query parameters of a tracking link are stored, and how long each name and value may be. */
export const MAX_CLICK_PARAMS = 20;
export const MAX_CLICK_PARAM_CHARS = 256;

export const ClickParams = z
  .record(z.string().min(1).max(MAX_CLICK_PARAM_CHARS), z.string().max(MAX_CLICK_PARAM_CHARS))
  .refine((params) => Object.keys(params).length <= MAX_CLICK_PARAMS, `at most ${MAX_CLICK_PARAMS}`);

/** ISO 3166, in lower case. */
export const ClickCountry = z.string().regex(/^[a-z]{2}$/);

/** What is stored of a click or an impression. */
export const touchFields = () => ({
  creative_id: text,
  country: ClickCountry.optional(),
  os_family: z.enum(OS_FAMILIES).optional(),
  network: optionalText,
  params: ClickParams.optional(),
  keys,
});

/** What a click and an impression have in common. They have no device yet, but are counted like any other event. */
export const ofTouch = {
  subject: 'creative',
  wires: [],
  columns: [{ name: 'params', type: 'json' }],
  keepsKeys: false,
  steps: {},
  segmentOf: segmentWithoutDevice,
  stepOf: () => null,
  summarise: ({ country }) => line(country),
} as const satisfies Partial<EventKind>;

const ClickEvent = storedWithoutDevice('click', touchFields);
type ClickEvent = z.infer<typeof ClickEvent>;

/** A click on a tracking link. */
export const click = {
  ...ofTouch,
  type: 'click',
  label: 'Click',
  description: 'A click on a tracking link.',
  stored: ClickEvent,
  count(_event, into) {
    into.addDaily({ clicks: 1 });
  },
} as const satisfies EventKind<ClickEvent>;
