// How much a ZIP archive unpacks to, before anything unpacks it: a few kilobytes may claim to be gigabytes, or not claim it and be.
// Source: PKWARE APPNOTE 6.3.10, sections 4.3.7, 4.3.12, 4.3.16 and 4.5.3

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT = 0xffff;
const IN_EXTRA = 0xffffffff;
const ZIP64 = 1;
const STORED = 0;

type ArchiveEntry = { method: number; packed: number; unpacked: number; localAt: number };

function endOf(view: DataView): number {
  for (
    let at = view.byteLength - END_BYTES;
    at >= Math.max(0, view.byteLength - END_BYTES - MAX_COMMENT);
    at--
  )
    if (view.getUint32(at, true) === END) return at;
  throw new RangeError('No end of a central directory');
}

/** The sizes of an entry that only the extra field has. */
function longSizes(view: DataView, from: number, to: number, sizes: readonly number[]): number[] {
  if (!sizes.includes(IN_EXTRA)) return [...sizes];
  for (let at = from; at + 4 <= to; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== ZIP64) continue;
    let next = at + 4;
    return sizes.map((size) => {
      if (size !== IN_EXTRA) return size;
      next += 8;
      return Number(view.getBigUint64(next - 8, true));
    });
  }
  throw new RangeError('A size is missing');
}

function* entriesOf(view: DataView): Generator<ArchiveEntry> {
  const end = endOf(view);
  let at = view.getUint32(end + 16, true);
  while (at < end && view.getUint32(at, true) === ENTRY) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true)) as [
      number,
      number,
      number,
    ];
    const extraAt = at + ENTRY_BYTES + name;
    // In the order of the extra field.
    const [unpacked = 0, packed = 0, localAt = 0] = longSizes(
      view,
      extraAt,
      extraAt + extra,
      [24, 20, 42].map((offset) => view.getUint32(at + offset, true)),
    );
    yield { method: view.getUint16(at + 10, true), packed, unpacked, localAt };
    at = extraAt + extra + comment;
  }
}

/** How many bytes deflated data really has; stops beyond `max`. */
async function inflatedSize(packed: Uint8Array<ArrayBuffer>, max: number): Promise<number> {
  let size = 0;
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  for await (const chunk of inflated) {
    size += chunk.byteLength;
    if (size > max) break;
  }
  return size;
}

/** Whether an archive unpacks to more than `max` bytes, by what it claims or by what it has. Throws for what is no readable archive. */
export async function unpacksBeyond(bytes: Uint8Array, max: number): Promise<boolean> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = [...entriesOf(view)];
  if (entries.reduce((sum, { unpacked }) => sum + unpacked, 0) > max) return true;
  let left = max;
  for (const { method, packed, localAt } of entries) {
    if (view.getUint32(localAt, true) !== LOCAL) throw new RangeError('An entry is missing');
    const from =
      localAt + LOCAL_BYTES + view.getUint16(localAt + 26, true) + view.getUint16(localAt + 28, true);
    const data = new Uint8Array(bytes.subarray(from, from + packed));
    left -= method === STORED ? data.length : await inflatedSize(data, left);
    if (left < 0) return true;
  }
  return false;
}
