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
    },
    { error: (issue) => (issue.input === undefined ? 'is required' : 'must be an object') },
  ),
});
export type DeviceMetrics = z.infer<typeof DeviceMetrics>;
