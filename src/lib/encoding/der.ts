/** An element of DER: its tag, and where its contents are. */
type Element = { tag: number; start: number; end: number };

const SEQUENCE = 0x30;
const OBJECT_ID = 0x06;
/** `[3]`, in which a certificate has its extensions: RFC 5280, 4.1. */
const EXTENSIONS = 0xa3;

/** The element at a place; null if it is none of one byte of tag, or reaches beyond `end`. */
function elementAt(bytes: Uint8Array, at: number, end: number): Element | null {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return null;
  const count = first & 0x80 ? first & 0x7f : 0;
  if (first === 0x80 || count > 4) return null;
  let length = count === 0 ? first : 0;
  for (let place = 0; place < count; place++) length = length * 256 + (bytes[at + 2 + place] ?? 0);
  const start = at + 2 + count;
  return start + length <= end ? { tag, start, end: start + length } : null;
}

/** The elements within one; null if what it contains is malformed. */
function elementsIn(bytes: Uint8Array, { start, end }: Element): Element[] | null {
  const elements: Element[] = [];
  for (let at = start; at < end; ) {
    const element = elementAt(bytes, at, end);
    if (!element) return null;
    elements.push(element);
    at = element.end;
  }
  return elements;
}

const within = (bytes: Uint8Array, element: Element | undefined, tag: number): Element[] =>
  (element?.tag === tag && elementsIn(bytes, element)) || [];

/**
 * The object ids of the extensions of an X.509 certificate, as hexadecimal of their contents. Only what stands where an extension's id does: the same bytes
 * in a name, a key or an extension's value are none. Empty for what is no certificate.
 */
export function extensionIds(certificate: Uint8Array): string[] {
  const whole = elementAt(certificate, 0, certificate.length);
  const [signed] = within(certificate, whole ?? undefined, SEQUENCE);
  const wrapper = within(certificate, signed, SEQUENCE).find(({ tag }) => tag === EXTENSIONS);
  const [list] = within(certificate, wrapper, EXTENSIONS);
  return within(certificate, list, SEQUENCE).flatMap((extension) => {
    const [id] = within(certificate, extension, SEQUENCE);
    if (id?.tag !== OBJECT_ID) return [];
    return [...certificate.subarray(id.start, id.end)]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join('');
  });
}
