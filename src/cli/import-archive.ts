import { type ImportedEvent, prepareEnvelopes } from './import-devices.ts';
import type { Target } from './import-file.ts';
import { readParquet } from './import-parquet.ts';

/**
 * Converts a raw event file to envelopes. Each device gets a token under its archived id, with its country and OS. Installs are created with
 * the devices; clicks have no envelope and are left out.
 */
export const prepareArchive = (file: string, target: Target): Promise<string> =>
  prepareEnvelopes(file, archivedEvents(file), target);

async function* archivedEvents(file: string): AsyncGenerator<ImportedEvent> {
  for await (const { device, envelope } of readParquet(file)) {
    yield {
      device: {
        id: device.id,
        metrics: {
          // Noon UTC falls on the archived day in every time zone from UTC-12 to UTC+11.
          created_at: `${device.acquiredDay}T12:00:00.000Z`,
          data: {
            device_name: 'archived',
            device_model: 'archived',
            os_system: device.os_family ?? 'archived',
            timezone: 'UTC',
            ...(device.country ? { country: device.country } : {}),
          },
        },
      },
      envelope,
    };
  }
}
