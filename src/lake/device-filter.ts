// A Bloom filter over the devices in a file, used to skip files that do not contain a device. Eight bits per device and five probes: one
// file in 46 is opened in vain.

const BITS_PER_DEVICE = 8;
const PROBES = 5;

/** FNV-1a with a final mix, so that ids that differ only in their last digits spread as well as random ones. */
function hash(text: string, seed: number): number {
  let value = 0x811c9dc5 ^ seed;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

function* bitsOf(deviceId: string, bits: number): Generator<number> {
  const first = hash(deviceId, 0);
  const step = hash(deviceId, 0x9e3779b9) | 1;
  for (let probe = 0; probe < PROBES; probe++) yield ((first + Math.imul(probe, step)) >>> 0) % bits;
}

/** The filter of a set of devices: one byte per device, at least one. */
export function makeDeviceFilter(deviceIds: ReadonlySet<string>): Uint8Array {
  const filter = new Uint8Array(Math.max(1, Math.ceil((deviceIds.size * BITS_PER_DEVICE) / 8)));
  for (const deviceId of deviceIds) {
    for (const bit of bitsOf(deviceId, filter.length * 8))
      filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return filter;
}

/** A filter that matches every device, for when the real one was already checked. */
export const ANY_DEVICE = new Uint8Array([255]);

/** False: the device is not in the set. True: it very likely is. */
export function mayHoldDevice(filter: Uint8Array, deviceId: string): boolean {
  for (const bit of bitsOf(deviceId, filter.length * 8)) {
    if (((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}
