import { placeholderFault, placeholderId } from '#lib/input/placeholder';
import { CLICK_ID_PARAMETERS } from '#networks';

// Reads the Play Install Referrer. On the way to us it may have been encoded again, cut, escaped as HTML or JSON, quoted or put behind its own name, and
// links have what their makers typed. It is read pair by pair, so that one malformed pair loses nothing but itself.

/** In characters. What is beyond it is not read. */
const MAX_REFERRER = 4_096;

const MAX_DECODED = 5;

/** A parameter, decoded. `isMalformed`: its percent-encoding is not, so it is as it was sent. */
type Pair = { name: string; value: string; isMalformed: boolean };

/** What a `&` is if it was escaped as HTML, once or several times. */
const ESCAPED = /^(?:amp;|#0*38;|#x0*26;)+/i;
/** The same of a text in JSON. */
const IN_JSON = /\\u00(26|3d)/gi;
/** What proxies and files put around a text. */
const AROUND = /^[\uFEFF\s\0"'`]+|[\s\0"'`]+$/g;
/** The separators of pairs, as they are or encoded. */
const SEPARATOR = /&|%(?:25)*26/gi;
/** Its own name, which some SDKs pass on with it, and the address of the store. */
const WITHIN = new Set(['referrer', 'install_referrer']);
const BEFORE = /^(?:(?:https?|market):\/\/[^?#]*)?[?#]/i;

/** Decodes what can be decoded. Null if some of it cannot. */
function decodeWhole(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const ENCODED = /(?:%[\da-f]{2})+/gi;

/** The same, where what cannot be decoded stays. */
const decodeReadable = (text: string): string =>
  decodeWhole(text) ?? text.replace(ENCODED, (encoded) => decodeWhole(encoded) ?? encoded);

function decodePart(text: string): Pick<Pair, 'value' | 'isMalformed'> {
  const value = decodeWhole(text);
  return value === null ? { value: decodeReadable(text), isMalformed: true } : { value, isMalformed: false };
}

const spaced = (text: string) => text.replaceAll('+', ' ');

/** The names of what identifies a click, ours or a network's, and of referrers within: by lower case. */
const NAMES: ReadonlyMap<string, string> = new Map(
  ['click_id', ...CLICK_ID_PARAMETERS, ...WITHIN].map((name) => [name.toLowerCase(), name]),
);
/** Where an id ends: no network's has a space, a quote or a fragment. */
const AFTER_ID = /[\s\0#"'`<>\\].*$/s;
/** Ours has only letters, digits and these. A percent sign at its end is what is left of a cut encoding. */
const AFTER_OWN_ID = /[^\w.~-].*$/s;

function pairOf(text: string): Pair {
  const [before = '', ...rest] = text.split('=');
  const left = decodePart(spaced(before));
  const name = NAMES.get(left.value.trim().toLowerCase());
  const isId = name !== undefined && identifies(name);
  // An id has no spaces, so a plus sign in one is itself.
  const right = decodePart(isId ? rest.join('=') : spaced(rest.join('=')));
  const isMalformed = left.isMalformed || right.isMalformed;
  if (!isId) return { name: name ?? left.value, value: right.value, isMalformed };
  const id = right.value.trim();
  // A macro may have any of these characters, and is told as it is.
  const isWhole = placeholderId(id) !== null;
  const value = isWhole ? id : id.replace(name === 'click_id' ? AFTER_OWN_ID : AFTER_ID, '');
  return { name, value, isMalformed };
}

const pairsOf = (text: string): Pair[] =>
  text.split(/[&\r\n]+/).flatMap((escaped) => {
    const pair = escaped.replace(ESCAPED, '');
    return pair === '' ? [] : [pairOf(pair)];
  });

/** The pairs of a text, then those of the referrers in it. */
function* readingsIn(text: string): Generator<Pair[]> {
  const pairs = pairsOf(text);
  yield pairs;
  for (const { name, value } of pairs) {
    if (WITHIN.has(name) && value.length < text.length) yield* readingsIn(value.replace(BEFORE, ''));
  }
}

/** The part that is read: whole pairs within the limit. */
function readable(referrer: string): string {
  if (referrer.length <= MAX_REFERRER) return referrer;
  const ends = [...referrer.slice(0, MAX_REFERRER + 1).matchAll(SEPARATOR)].map(({ index }) => index);
  return referrer.slice(0, ends.at(-1) ?? 0);
}

const bare = (text: string) =>
  text
    .replace(AROUND, '')
    .replace(BEFORE, '')
    .replace(IN_JSON, (_, code: string) => (code === '26' ? '&' : '='));

/** The parameters of a referrer in each of its readings: as it is, and as decoded once, twice and so on. */
function* pairsIn(referrer: string | undefined): Generator<Pair[]> {
  let text = bare(readable(referrer ?? ''));
  for (let reading = 0; reading < MAX_DECODED; reading++) {
    yield* readingsIn(text);
    const decoded = bare(decodeReadable(text));
    if (decoded === text) return;
    text = decoded;
  }
}

/** Whether it names a click, ours or a network's. */
const identifies = (name: string): boolean => name === 'click_id' || CLICK_ID_PARAMETERS.has(name);

const faultOf = ({ name, value }: Pair) =>
  identifies(name) ? placeholderFault(name, value, placeholderId) : null;
const isPlaceholder = (pair: Pair): boolean => faultOf(pair) !== null;

/** The parameters of a referrer in each of its readings, without click ids that are empty or placeholders. Of a name that repeats, the first value counts. */
export function* readingsOf(referrer: string | undefined): Generator<Map<string, string>> {
  for (const pairs of pairsIn(referrer)) {
    const kept = pairs.filter(
      (pair) => !isPlaceholder(pair) && !(pair.value === '' && identifies(pair.name)),
    );
    yield new Map(kept.toReversed().map(({ name, value }) => [name, value]));
  }
}

const MAX_NAME = 64;
const shown = (name: string) =>
  (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name).toWellFormed();

/** What of a referrer is not read, or not as it was meant. */
export function referrerWarnings(referrer: string | undefined): string[] {
  if (referrer === undefined) return [];
  const readings = [...pairsIn(referrer)];
  // A referrer that was encoded as a whole is a single parameter until it is decoded.
  const found = readings.reduce((most, pairs) => (pairs.length > most.length ? pairs : most), []);
  const reasons = readings.flat().flatMap((pair) => {
    const fault = faultOf(pair);
    return fault ? [`${fault.path} ${fault.message}`] : [];
  });
  const malformed = found
    .filter(({ isMalformed }) => isMalformed)
    .map(({ name }) => `${shown(name)} has malformed percent-encoding; read as it is`);
  const isCut = referrer.length > MAX_REFERRER;
  const cut = isCut ? [`is longer than ${MAX_REFERRER} characters; what is beyond is ignored`] : [];
  return [...new Set([...cut, ...reasons, ...malformed])];
}
