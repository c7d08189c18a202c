import { sql } from 'drizzle-orm';
import { toHex } from '#lib/encoding/hex';
import { idFromBytes, idToBytes } from '#lib/ids';
import { purchaseKeys } from '../schema.ts';
import { type ObjectStore, toParameters } from '../store.ts';

// Keys of purchases match at any time and lead to the purchase that was counted under them. Purchases are few, so each key is a row.

type StoredPurchase = [hex: string, eventId: string];

/** Which of these hashes (`hexOfHash`) are stored, each with the event that was counted under it. */
export function* findPurchases(store: ObjectStore, hashes: Iterable<string>): Generator<StoredPurchase> {
  for (const page of readPurchases(store, hashes)) yield* page;
}

/** `findPurchases`, with one page per read of a bounded size. */
export function* readPurchases(store: ObjectStore, hashes: Iterable<string>): Generator<StoredPurchase[]> {
  for (const parameter of toParameters(hashes)) {
    const rows = store.values<[hex: string, eventId: ArrayBuffer]>(sql`
      SELECT wanted.value, ${purchaseKeys.eventId} FROM json_each(${parameter}) AS wanted
      CROSS JOIN ${purchaseKeys} ON ${purchaseKeys.hash} = unhex(wanted.value)`);
    yield rows.map(([hex, eventId]) => [hex, idFromBytes('evt', new Uint8Array(eventId))]);
  }
}

/** Stores new keys. Call it in a transaction; `takenDay` counts from 1970. */
export function savePurchases(store: ObjectStore, taken: Iterable<StoredPurchase>, takenDay: number): void {
  const rows = Array.from(taken, ([hex, eventId]) => [hex, toHex(idToBytes(eventId))]);
  for (const parameter of toParameters(rows)) {
    store.run(sql`INSERT INTO ${purchaseKeys} SELECT unhex(value ->> 0), unhex(value ->> 1), ${takenDay}
      FROM json_each(${parameter}) WHERE true ON CONFLICT DO NOTHING`);
  }
}
