const HIDDEN = '***';
/** Shorter parts of base64 would be found where there is none. */
const MIN_BASE64 = 6;

const percent = (character: string) =>
  [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
const lowerHex = (text: string) =>
  text.replaceAll(/%[0-9A-F]{2}|\\u[0-9A-F]{4}/g, (code) => code.toLowerCase());
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const unit = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0')}`,
  ).join('');
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** How a secret is sent in a URL, a form or a header; the last three are within base64, in any place of what was encoded with it. */
function asSent(secret: string): string[] {
  const bytes = String.fromCharCode(...new TextEncoder().encode(secret));
  const base64 = [0, 1, 2].flatMap((before) => {
    const text = btoa('\0'.repeat(before) + bytes).replaceAll('=', '');
    // The characters that depend on the secret alone.
    const own = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return own.length < MIN_BASE64 ? [] : [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll(/[!'()*~]/g, percent),
    encodeURIComponent(secret).replaceAll(/[!'()*]/g, percent),
    encodeURIComponent(secret).replaceAll("'", '%27'),
    // The name and `=` of a form.
    new URLSearchParams({ '': secret }).toString().slice(1),
    [...secret].map(percent).join(''),
    ...base64,
  ];
}

/** How receivers write what they quote. JSON is escaped more or less by each language's library. */
const QUOTED: readonly ((text: string) => string)[] = [
  (text) => text,
  json,
  (text) => json(text).replaceAll('/', '\\/'),
  (text) => json(text).replaceAll(/[<>&]/g, unit),
  (text) => json(text).replaceAll(/[^\x20-\x7e]/gu, unit),
  (text) =>
    json(text)
      .replaceAll(/[^\x20-\x7e]/gu, unit)
      .replaceAll('/', '\\/'),
  (text) => text.replaceAll('\\', '\\\\').replaceAll(/["'&+<>`]|[^\x20-\x7e]/gu, unit),
  (text) => [...text].map(unit).join(''),
  (text) => json(json(text)),
  (text) => text.replaceAll(/[&<>"]/g, (one) => ENTITIES[one] ?? one),
  ...['&#39;', '&#x27;', '&apos;', '&#039;'].map(
    (apostrophe) => (text: string) =>
      text.replaceAll(/[&<>"]/g, (one) => ENTITIES[one] ?? one).replaceAll("'", apostrophe),
  ),
  (text) => text.replaceAll(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`),
  encodeURIComponent,
];

/** A secret in each form that it may have in an answer, the longest first. For most secrets, few of them differ. */
function formsOf(secret: string): string[] {
  const forms = asSent(secret.toWellFormed()).flatMap((sent) => QUOTED.map((quote) => quote(sent)));
  return [...new Set(forms.flatMap((form) => [form, lowerHex(form)]))].toSorted(
    (one, other) => other.length - one.length,
  );
}

/** A text without some secrets, in whatever encoding they were sent in, and are quoted in. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  if (text === '') return text;
  return secrets
    .filter((secret) => secret !== '')
    .toSorted((one, other) => other.length - one.length)
    .flatMap(formsOf)
    .reduce((left, form) => left.replaceAll(form, HIDDEN), text);
}
