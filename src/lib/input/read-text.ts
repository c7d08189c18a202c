/** Reads the text of a body, and stops once there are more bytes than `maxBytes`: then only its start is in `text`. */
export async function readText(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<{ text: string; isCut: boolean }> {
  if (!body) return { text: '', isCut: false };
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (let [text, bytes] = ['', 0]; ; ) {
    const { done, value } = await reader.read();
    if (done) return { text: text + decoder.decode(), isCut: false };
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
    if (bytes < maxBytes) continue;
    await reader.cancel();
    return { text, isCut: true };
  }
}
