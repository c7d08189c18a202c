import { deviceDay, pageId, pageOf } from '../../src/counting/devices/device-pages.ts';
import {
  type DeviceFactsRow,
  type HistoryRow,
  readHistories,
  readRows,
  writeHistories,
  writeRows,
} from '../../src/counting/devices/device-row.ts';
import { hashOfDevice } from '../../src/counting/pack.ts';
import { openStore } from '../../src/counting/store.ts';
import { deflateText, inflateText } from '../../src/lib/encoding/deflate.ts';
import { dayNumber } from '../../src/lib/time.ts';

type Device = { id: string; acquiredDay: string };
type Row = { facts: DeviceFactsRow; history: HistoryRow };
type StoredPage = { facts: ArrayBuffer; histories: ArrayBuffer };

/** The id of the page that a counted device is on. */
export function pageOfDevice(storage: DurableObjectStorage, { id, acquiredDay }: Device): number {
  const day = deviceDay(openStore(storage), dayNumber(acquiredDay));
  if (!day) throw new Error('no device of this day was counted');
  return pageId(day.day, pageOf(hashOfDevice(id)[0], day.pages));
}

/** Changes what is stored for a counted device. */
export function changeStored(
  storage: DurableObjectStorage,
  device: Device,
  change: (row: Row) => void,
): void {
  const page = pageOfDevice(storage, device);
  const stored = storage.sql.exec<StoredPage>('SELECT * FROM device_pages WHERE id = ?', page).one();
  const facts = readRows(inflateText(new Uint8Array(stored.facts)));
  const histories = readHistories(inflateText(new Uint8Array(stored.histories)));
  const index = facts.findIndex(([id]) => id === device.id);
  const [own, history] = [facts[index], histories[index]];
  if (!own || !history) throw new Error('nothing was counted for the device');
  change({ facts: own, history });
  storage.sql.exec(
    'UPDATE device_pages SET facts = ?, histories = ? WHERE id = ?',
    new Uint8Array(deflateText(writeRows(facts))),
    new Uint8Array(deflateText(writeHistories(histories))),
    page,
  );
}
