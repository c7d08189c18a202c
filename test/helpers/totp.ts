/** What an authenticator app shows for a key in base 32, by RFC 6238. */
export async function codeOf(key: string, at = Date.now()): Promise<string> {
  const bits = [...key.replaceAll(' ', '')].map((digit) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
  );
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  const secret = Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
  const own = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-1' }, false, ['sign']);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(Math.floor(at / 30_000)));
  const signed = new DataView(await crypto.subtle.sign('HMAC', own, counter));
  const offset = signed.getUint8(19) & 15;
  return String((signed.getUint32(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
