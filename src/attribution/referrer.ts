import { placeholderFault, placeholderId } from '#lib/input/placeholder';
import { CLICK_ID_PARAMETERS } from '#networks';

// Reads the Play Install Referrer. On the way to us it may have been encoded again, cut, escaped as HTML or put behind its own name, and links have
// what their makers typed. It is read pair by pair, so that one malformed pair loses nothing but itself.

/** In characters. What is beyond it is not read. */
const MAX_REFERRER = 4_096;

const MAX_DECODED = 3;

/** A parameter, decoded. `isMalformed`: its percent-encoding is not, so it is as it was sent. */
type Pair = { name: string; value: string; isMalformed: boolean };

/** What a `&` is if it was escaped as HTML, once or several times. */
const ESCAPED = /^(?:amp;|#0*38;|#x0*26;)+/i;
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
  const spaced = text.replaceAll('+', ' ');
  const value = decodeWhole(spaced);
  return value === null
    ? { value: decodeReadable(spaced), isMalformed: true }
    : { value, isMalformed: false };
}

function pairsOf(text: string): Pair[] {
  return text.split('&').flatMap((escaped) => {
    const pair = escaped.replace(ESCAPED, '');
    if (pair === '') return [];
    const [name = '', ...rest] = pair.split('=');
    const [left, right] = [decodePart(name), decodePart(rest.join('='))];
    return [{ name: left.value, value: right.value, isMalformed: left.isMalformed || right.isMalformed }];
  });
}

/** The part that is read: whole pairs within the limit. */
function readable(referrer: string): string {
  if (referrer.length <= MAX_REFERRER) return referrer;
  const ends = [...referrer.slice(0, MAX_REFERRER + 1).matchAll(SEPARATOR)].map(({ index }) => index);
  return referrer.slice(0, ends.at(-1) ?? 0);
}

/** The parameters of a referrer in each of its readings: as it is, and as decoded once and twice. */
function* pairsIn(referrer: string | undefined): Generator<Pair[]> {
  for (
    let text = readable(referrer ?? '').replace(BEFORE, ''), reading = 0;
    reading < MAX_DECODED;
    reading++
  ) {
    const pairs = pairsOf(text);
    yield pairs;
    for (const { name, value } of pairs) if (WITHIN.has(name)) yield pairsOf(value.replace(BEFORE, ''));
    const decoded = decodeReadable(text);
    if (decoded === text) return;
    text = decoded;
  }
}

/** Whether it names a click, ours or a network's. */
const identifies = (name: string): boolean => name === 'click_id' || CLICK_ID_PARAMETERS.has(name);

const faultOf = ({ name, value }: Pair) =>
  identifies(name) ? placeholderFault(name, value, placeholderId) : null;
const isPlaceholder = (pair: Pair): boolean => faultOf(pair) !== null;

/** The parameters of a referrer in each of its readings, without click ids that are placeholders. Of a name that repeats, the first value counts. */
export function* readingsOf(referrer: string | undefined): Generator<Map<string, string>> {
  for (const pairs of pairsIn(referrer)) {
    const kept = pairs.filter((pair) => !isPlaceholder(pair));
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
