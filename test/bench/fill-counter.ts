import { isOfDevice, type LoggedEvent } from '#catalogue';
import { insertDevice } from '../../src/counting/devices/devices.ts';
import { appendFresh, packEvents } from '../../src/counting/log.ts';
import { SeenIds } from '../../src/counting/seen-ids.ts';
import { openStore } from '../../src/counting/store.ts';
import { PIXEL } from '../helpers/device-description.ts';
import { APPLICATION_ID, makeDevices, makeEvents } from './workload.ts';

/** `bytes` are added to each event. `names`: how many names the custom events have; 0 for those of the workload. */
type Filling = { events: number; bytes: number; names: number };

/** Appends events to a counter's log, without counting them. Keeps nothing of what it makes. */
export function fillCounter(storage: DurableObjectStorage, { events: total, bytes, names }: Filling): void {
  const store = openStore(storage);
  const seen = new SeenIds(store);
  const devices = makeDevices(1);
  for (const { id, acquiredDay, creativeId, country, os } of devices) {
    insertDevice(store, null, {
      id,
      acquiredDay,
      creativeId,
      acquiredAt: 1,
      description: { ...PIXEL, segment: { ...PIXEL.segment, country, os } },
      attribution: '{}',
    });
  }
  let minted = 0;
  const stream = makeEvents(3, devices, 1, () => `evt_${(++minted).toString(16).padStart(32, '0')}`);
  const padding = 'x'.repeat(bytes);
  for (let made = 0; made < total; ) {
    const events: LoggedEvent[] = [];
    for (; events.length < 500 && made < total; made++) {
      const event = stream.next().value;
      if (!isOfDevice(event)) continue;
      if (padding !== '') event.device = { ...event.device, padding };
      if (event.type === 'custom' && names > 0) event.event_name = `${made % names}`.repeat(20);
      events.push(event);
    }
    appendFresh(store, seen, packEvents(APPLICATION_ID, events), Date.now());
  }
}
