import * as z from 'zod';
import { PLAY_TIMES, referrerWarnings } from '#attribution';
import { applicationProperties, sharingProperties } from '#catalogue';
import {
  type Fault,
  oneOf,
  optionalCount,
  optionalCountry,
  optionalName,
  optionalNumber,
  optionalText,
  optionalTextOrNumber,
  requiredName,
  requiredText,
} from '#http';
import {
  addWarning,
  descriptive,
  dropped,
  identifier,
  naming,
  replaceable,
  withWarnings,
} from '#lib/input/leniency';
import { addressIn } from '#lib/network';
import { isTimezone } from '#lib/time';
import { timestamp, timeWarnings } from '#lib/timestamp';

const pixels = () => descriptive(optionalNumber(1e6));
/** Seconds since 1970, up to the year 5138. */
const playTime = () => descriptive(optionalCount(1e11));
const playTimes = () =>
  Object.fromEntries(PLAY_TIMES.map((name) => [name, playTime()])) as Record<
    (typeof PLAY_TIMES)[number],
    ReturnType<typeof playTime>
  >;
const identity = () => descriptive(identifier(optionalTextOrNumber(128)));

/** As long as a body may be. */
const MAX_REFERRER_SENT = 65_536;

const deviceAddress = () =>
  identifier(optionalText(512)).transform((sent) => {
    if (typeof sent !== 'string') return sent;
    return addressIn(sent) ?? (dropped('is not an IP address; counted as absent') as never);
  });

/** Body of `POST /fetch-token`, and an item of `POST /fetch-token/batch`. */
export const DeviceMetrics = z.lazy(() =>
  z
    .object(
      {
        type: oneOf(['device-metrics']),
        created_at: timestamp(),
        data: z.object(
          {
            device_name: requiredName(),
            device_model: requiredName(),
            os_system: requiredName(),
            /** IANA name. Some SDKs send a timestamp here; the zone is then unknown, stored as empty text. */
            timezone: replaceable(requiredText().refine(isTimezone, 'must be an IANA time zone'), '', {
              effect: 'taken as unknown',
            }),
            dpi: pixels(),
            window_height: pixels(),
            window_width: pixels(),
            /** The backend's own name for the device. The same name returns the same device. */
            device_id: identifier(optionalTextOrNumber()),
            /** ISO 3166, in any form of `toCountryCode`. */
            country: descriptive(optionalCountry()),
            /** The result of the Play Install Referrer, of which attribution reads the first part if it is long. */
            install_referrer: descriptive(optionalText(MAX_REFERRER_SENT)),
            /** What the Play Install Referrer reports beside it. */
            ...playTimes(),
            click_id: descriptive(identifier(optionalText(128))),
            /** The AdServices token of an iOS app, which Apple resolves to an ad of Apple Ads. */
            adservices_token: descriptive(identifier(optionalText(8192))),
            /** The last segment of a tracking link, if the application was opened by a deep link. */
            creative_token: descriptive(identifier(optionalText(128))),
            /** The network that brought the device, if the sender knows it, as an import does. */
            network: descriptive(naming(optionalName(64))),
            /** The device's own address, not the backend's. Only its keyed hash is compared; the address is not stored. */
            ip: descriptive(deviceAddress()),
          },
          { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') },
        ),
        ...applicationProperties,
        /** Sent by an editor or a debug build. Its device and events are not counted in reports. */
        dev: descriptive(z.boolean({ error: 'must be true or false' }).nullish()),
        // Identities of an installation, as sent by SDKs: app set id, vendor id, advertising id, Android id.
        asid: identity(),
        ifv: identity(),
        ga: identity(),
        aid: identity(),
        // With `lat`, the last two are not used.
        ...sharingProperties,
      },
      { error: 'The body must be a JSON object' },
    )
    .transform(withWarnings)
    .transform(withReferrerWarnings),
);

/** Names what of the referrer is not read, or not as it was meant. */
function withReferrerWarnings<
  Metrics extends { data: { install_referrer?: string | undefined }; warnings: Fault[] },
>(metrics: Metrics): Metrics {
  const path = 'data.install_referrer';
  for (const message of referrerWarnings(metrics.data.install_referrer))
    addWarning(metrics, { path, message });
  return metrics;
}

export type DeviceMetrics = z.infer<typeof DeviceMetrics>;

/** What of a device's message was dropped or replaced, as the answer and the device's explanation list it. */
export const deviceWarnings = ({ created_at, warnings }: DeviceMetrics, now: number): Fault[] => [
  ...timeWarnings(created_at, now),
  ...warnings,
];

/** The name of a test build's device. */
export const testNameOf = (name: string): string => `test:${name}`;

/**
 * The name by which the sender knows the device: the backend's own id, or else the installation's identity. Null if there is neither.
 * Test builds get devices of their own, so that a tester's later regular installation still counts as a new customer.
 */
export function identityOf({ data, asid, ifv, ga, aid, lat, dev }: DeviceMetrics): string | null {
  const named = (name: string) => (dev ? testNameOf(name) : name);
  if (data.device_id) return named(data.device_id);
  const installation = { asid, ifv, ...(lat ? {} : { ga, aid }) };
  for (const [kind, id] of Object.entries(installation)) {
    if (id) return named(`${kind}:${id}`);
  }
  return null;
}
