import * as z from 'zod';
import { oneOf, optionalName, optionalNumber, optionalText, requiredText } from '#http';
import { descriptive, replaceable, withWarnings } from '#lib/leniency';
import { isTimezone } from '#lib/time';
import { timestamp } from '#lib/timestamp';

const pixels = () => descriptive(optionalNumber(1e6));
const identity = () => descriptive(optionalName(128));

/** Body of `POST /fetch-token`, and an item of `POST /fetch-token/batch`. */
export const DeviceMetrics = z
  .object(
    {
      type: oneOf(['device-metrics']),
      created_at: timestamp(),
      data: z.object(
        {
          device_name: requiredText(),
          device_model: requiredText(),
          os_system: requiredText(),
          /** IANA name. Some SDKs send a timestamp here: the zone is then unknown, which is empty. */
          timezone: replaceable(requiredText().refine(isTimezone, 'must be an IANA time zone'), '', {
            effect: 'taken as unknown',
          }),
          dpi: pixels(),
          window_height: pixels(),
          window_width: pixels(),
          /** The backend's own name for the device: the same one gives the same device again. */
          device_id: optionalName(),
          /** ISO 3166, two letters. */
          country: descriptive(
            optionalText().pipe(
              z
                .string()
                .regex(/^[A-Za-z]{2}$/, 'must be a country code of two letters')
                .toLowerCase()
                .optional(),
            ),
          ),
          /** What the Play Install Referrer returned. It carries an ad's own parameters too and so may be long. */
          install_referrer: descriptive(optionalText(4096)),
          click_id: descriptive(optionalText(128)),
          /** The last segment of a tracking link, of an application that was opened by a deep link. */
          creative_token: descriptive(optionalText(128)),
          /** The device's own address, not the backend's. Only its keyed hash is compared, nothing of it is stored. */
          ip: descriptive(optionalText(64)),
        },
        { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') },
      ),
      app_version: descriptive(optionalName()),
      sdk_version: descriptive(optionalName()),
      sdk_type: descriptive(optionalName()),
      /** Sent by an editor or a debug build: its device and events are counted in no report. */
      dev: descriptive(z.boolean({ error: 'must be true or false' }).nullish()),
      // The identities of an installation that SDKs send: app set id, vendor's id, advertising id, Android id.
      asid: identity(),
      ifv: identity(),
      ga: identity(),
      aid: identity(),
      /** The person has limited ad tracking: the last two are not used. */
      lat: descriptive(z.boolean({ error: 'must be true or false' }).nullish()),
    },
    { error: 'The body must be a JSON object' },
  )
  .transform(withWarnings);
export type DeviceMetrics = z.infer<typeof DeviceMetrics>;

/** What clients send where they have no id. The last is one that many early Android devices share. */
const NOT_AN_ID = /^(?:[0-]*|null|undefined|unknown|none|nan|9774d56d682e549c)$/i;

/**
 * What the device is known by to its sender: the backend's own id, else the installation's identity. Null where there is none.
 * Test builds have devices of their own, so that a tester's phone is not counted as a new customer without an installation.
 */
export function identityOf({ data, asid, ifv, ga, aid, lat, dev }: DeviceMetrics): string | null {
  const scope = dev ? 'test:' : '';
  if (data.device_id) return `${scope}${data.device_id}`;
  const installation = { asid, ifv, ...(lat ? {} : { ga, aid }) };
  for (const [kind, id] of Object.entries(installation)) {
    if (id && !NOT_AN_ID.test(id)) return `${scope}${kind}:${id}`;
  }
  return null;
}
