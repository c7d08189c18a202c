/** Half of the bytes of Latin text in UTF-16 are zero, which UTF-8 text has none of. */
function guessedEncoding(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const start = bytes.subarray(0, 64);
  if (!start.includes(0)) return 'utf-8';
  return start.indexOf(0) % 2 === 1 ? 'utf-16le' : 'utf-16be';
}

/** A file's text, in UTF-8 or UTF-16. Null if it is neither. */
export function decodeCostFile(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(guessedEncoding(bytes), { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}
