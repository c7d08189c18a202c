import * as z from 'zod';
import { oneOf, optionalNumber, optionalText, requiredText } from '#http';
import { isTimezone } from '#lib/time';
import { timestamp } from './timestamp.ts';

const pixels = () => optionalNumber(1e6);

/** Body of `POST /fetch-token`. */
export const DeviceMetrics = z.object({
  type: oneOf(['device-metrics']),
  created_at: timestamp(),
  data: z.object(
    {
      device_name: requiredText(),
      device_model: requiredText(),
      os_system: requiredText(),
      timezone: requiredText().refine(isTimezone, 'must be an IANA time zone'),
      dpi: pixels(),
      window_height: pixels(),
      window_width: pixels(),
      /** The backend's own name for the device: the same one gives the same device again. */
      device_id: optionalText(),
      /** What the Play Install Referrer returned. It carries an ad's own parameters too and so may be long. */
      install_referrer: optionalText(4096),
      click_id: optionalText(128),
      /** The last segment of a tracking link, of an application that was opened by a deep link. */
      creative_token: optionalText(128),
      /** The device's own address, not the backend's. Only its keyed hash is compared, nothing of it is stored. */
      ip: optionalText(64),
    },
    { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') },
  ),
});
export type DeviceMetrics = z.infer<typeof DeviceMetrics>;
