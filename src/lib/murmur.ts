const encoder = new TextEncoder();
let bytes = new Uint8Array(2_048);

/** Four 32-bit words. */
export type Hash128 = [number, number, number, number];

const rotl = (value: number, by: number) => (value << by) | (value >>> (32 - by));

function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

/** Writes a text's UTF-8 into `bytes` and returns its length. Keys are short and ASCII, for which calling the encoder takes longer. */
function writeUtf8(text: string): number {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127) return encoder.encodeInto(text, bytes).written;
    bytes[index] = code;
  }
  return text.length;
}

/**
 * MurmurHash3 (x86, 128 bits, seed 0) of a text's UTF-8 bytes. Fast and evenly distributed, but not cryptographic: whoever chooses the
 * texts may find collisions. Source: Austin Appleby's MurmurHash3.cpp, public domain.
 */
export function murmur128(text: string): Hash128 {
  if (bytes.length < text.length * 3) bytes = new Uint8Array(text.length * 3);
  const length = writeUtf8(text);
  const word = (at: number) =>
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24);
  let [h1, h2, h3, h4] = [0, 0, 0, 0];
  const whole = length - (length % 16);
  for (let at = 0; at < whole; at += 16) {
    h1 ^= Math.imul(rotl(Math.imul(word(at), C1), 15), C2);
    h1 = (Math.imul(rotl(h1, 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotl(Math.imul(word(at + 4), C2), 16), C3);
    h2 = (Math.imul(rotl(h2, 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotl(Math.imul(word(at + 8), C3), 17), C4);
    h3 = (Math.imul(rotl(h3, 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotl(Math.imul(word(at + 12), C4), 18), C1);
    h4 = (Math.imul(rotl(h4, 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  // The tail is read as words padded with zeros: a word without bytes changes nothing.
  bytes.fill(0, length, whole + 16);
  h4 ^= Math.imul(rotl(Math.imul(word(whole + 12), C4), 18), C1);
  h3 ^= Math.imul(rotl(Math.imul(word(whole + 8), C3), 17), C4);
  h2 ^= Math.imul(rotl(Math.imul(word(whole + 4), C2), 16), C3);
  h1 ^= Math.imul(rotl(Math.imul(word(whole), C1), 15), C2);
  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = mix(h1);
  h2 = mix(h2);
  h3 = mix(h3);
  h4 = mix(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  return [h1 >>> 0, h2 >>> 0, h3 >>> 0, h4 >>> 0];
}
