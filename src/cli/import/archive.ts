import type { ImportedRow } from './devices.ts';
import { readParquet } from './parquet.ts';

/**
 * Reads a raw event file as rows. Each device keeps its archived id, with its country and OS. Installs are created with the devices; clicks
 * have no device and are left out.
 */
export async function* readArchive(file: string): AsyncGenerator<ImportedRow> {
  let line = 0;
  for await (const { device, envelope } of readParquet(file)) {
    yield {
      line: ++line,
      kind: envelope?.type ?? 'install',
      outcome: 'read',
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
      envelopes: envelope ? [envelope] : [],
      row: envelope ?? { device_id: device.id },
    };
  }
}
