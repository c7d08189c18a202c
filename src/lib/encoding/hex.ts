const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Bytes as lower-case hexadecimal digits. With `for … of`, it takes five times as long. */
export function toHex(bytes: Uint8Array, start = 0, end = bytes.length): string {
  let hex = '';
  for (let index = start; index < end; index++) hex += HEX[bytes[index] ?? 0];
  return hex;
}
