// What senders write in the place of an identifier or a name that they do not have. Whoever takes it for one joins strangers: three phones
// with the id `null` would be one device. Only a whole value is a placeholder: a campaign may be called `Null Island` or `[US] Summer`.

const WORD = 'says nothing, like null';
const MACRO = 'is a macro that was not replaced';
const SHARED = 'is an id that many devices share';

const REASONS = [WORD, MACRO, SHARED];

/** What a warning says of what is not used. */
export const COUNTED_AS_ABSENT = 'counted as absent';

/** Whether a warning says that a placeholder was counted as absent. */
export const isOfPlaceholder = (message: string): boolean =>
  REASONS.some((reason) => message.includes(reason));

/** In lower case, without brackets and quotes around them. */
const WORDS: ReadonlySet<string> = new Set([
  ...['null', 'nul', 'nil', 'none', 'undefined', 'undef', 'nan', 'n/a', 'n.a.', 'n.a', '#n/a', '\\n', '<na>'],
  ...['unknown', 'unset', 'unspecified', 'unavailable', 'not set', 'not_set', 'not-set', 'notset'],
  ...['not available', 'not_available', 'not applicable', 'not provided', 'not_provided', 'nullptr'],
]);

/** What a name may be, but an identifier is not: `NA` is North America, and an item may have the number 0. */
const ID_WORDS: ReadonlySet<string> = new Set([
  ...['na', 'nat', 'inf', 'infinity', '+infinity', '-infinity', 'true', 'false', '-1', 'empty', 'blank'],
  ...['missing', 'void'],
]);

/** Ids that many devices have. */
const SHARED_IDS: ReadonlySet<string> = new Set([
  // An Android id of early devices. Source: Android issue 10603
  '9774d56d682e549c',
  // Of emulators. Source: github.com/strazzere/anti-emulator
  ...['e21833235b6eef10', '012345678912345', '0123456789abcdef'],
  // What Android and iOS give instead of a device's own address, also hashed with MD5, SHA-1 and SHA-256.
  ...['02:00:00:00:00:00', '02-00-00-00-00-00', '020000000000', 'ff:ff:ff:ff:ff:ff'],
  '0f607264fc6318a92b9e13c65db7cd3c',
  'c1976429369bfe063ed8b3409db7c7e7d87196d9',
  'c248c629af1fe0a8c46b95668064c1d2952a9e91d207bc0cc3c5d584c2f7553a',
  // Empty text, hashed.
  'd41d8cd98f00b204e9800998ecf8427e',
  'da39a3ee5e6b4b0d3255bfef95601890afd80709',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  // The zero UUID, hashed.
  '9f89c84a559f573636a47ff8daed0d33',
  'b602d594afd2b0b327e07a06f36ca6a7e42546d0',
  '12b9377cbe7e5c94e8a70d9d23929523d14afa954793130f8a3959c7b849aca8',
]);

/** Zeros in any grouping, such as the zero UUID or IMEI, and the UUID of only `f` (RFC 9562). */
const ZEROS = /^(?:urn:uuid:|0x)?[0:._-]+$/;
const ALL_ONES = /^[f-]{32,36}$/;
/** Several words in one id: `null_null`. */
const WORD_FIRST = /^(?:null|nil|none|nan|undefined|unknown|0+)[-_:|,;/.]/;
const SEPARATORS = /[-_:|,;/.\s]+/;

/** What may be written in any of these brackets or quotes. */
const WRAPPED = /^(?:\((.*)\)|<(.*)>|\[(.*)\]|\{(.*)\}|"(.*)"|'(.*)'|`(.*)`)$/s;
const OBJECT = /^\[?object \w+\]?$/;
/** Without a letter or digit: empty braces, a dash. Other scripts and emoji are names. */
const ONLY_MARKS = /^[\s!-/:-@[-`{-~]*$/;

const NAME = String.raw`[a-z_][\w.:+-]*`;
const MACROS = new RegExp(
  `^(?:${[
    // {x} ${x} #{x} %{x} {0}, {{x}} and { x } with spaces
    String.raw`[$#%@]?\{(?:[a-z_$@#%.][^{}"'\s]{0,127}|\d{1,2})\}`,
    String.raw`[$#%@]?\{{2,3}[^{}"']{1,128}\}{2,3}`,
    String.raw`[$#%@]?\{ +${NAME} +\}`,
    // [x] [[x]] $[x] [%x%]
    String.raw`\$?\[{1,2}%?${NAME}%?\]{1,2}`,
    // __x__
    String.raw`__+[a-z\d][\w.-]*__+`,
    // %x% %%x%%, $x$, @@x@@, ~x~, #x#, |x| *|x|*
    `%{1,2}${NAME}%{1,2}`,
    String.raw`\${1,2}${NAME}\${1,2}`,
    `@{1,2}${NAME}@{1,2}`,
    `~{1,2}${NAME}~{1,2}`,
    `#{1,2}${NAME}#{1,2}`,
    String.raw`\*?\|{1,2}${NAME}\|{1,2}\*?`,
    // <x> <<x>> <%= x %>
    String.raw`<{1,2}[%=?\s]*${NAME}[%=?\s]*>{1,2}`,
    // ((x)) $(x)
    String.raw`\({2}\s*${NAME}\s*\){2}`,
    String.raw`\$\(${NAME}\)`,
  ].join('|')})$`,
  'i',
);
/** Macros that may follow each other in one value: `__CAMPAIGN__-__AID__`. Names in square brackets may, too: `[US][Android]`. */
const SEVERAL =
  /[$#%@]?\{{1,3}[a-z_$@#%.][^{}"'\s]{0,127}\}{1,3}|__[a-z\d]+(?:_[a-z\d]+)*__|%%[a-z_][\w.:-]*%%/gi;
/** The id of an object, which some platforms write in braces. */
const IN_BRACES = /^[{([<]+([\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12})[}\])>]+$/i;
const ENCODED = /%(?:7b|5b|3c|24|40|25|28|7e|23|7c|5f)|&(?:lt|gt|quot|#\d{2,3});/i;
const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#123;': '{',
  '&#125;': '}',
};

/** Far above any word, hash or macro. */
const LONGEST = 300;

/** Also what is beyond ASCII. */
const isAlphanumeric = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code > 127;

function isMacro(text: string): boolean {
  if (MACROS.test(text)) return true;
  const rest = text.replace(SEVERAL, '');
  return rest !== text && ONLY_MARKS.test(rest);
}

function decoded(text: string): string {
  const unescaped = text.replace(/&(?:lt|gt|quot|#\d{2,3});/g, (entity) => ENTITIES[entity] ?? entity);
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
}

/** What is inside of brackets and quotes. */
function unwrapped(text: string): string {
  let inside = text.trim();
  for (let found = WRAPPED.exec(inside); found; found = WRAPPED.exec(inside)) {
    inside = (found.slice(1).find((one) => one !== undefined) ?? '').trim();
  }
  return inside;
}

/** Of a text that begins or ends with a mark, which ordinary ids and names rarely do. `reasonOf` judges what is inside. */
function reasonOfMarked(text: string, reasonOf: (inside: string) => string | null): string | null {
  if (text.length > LONGEST) return null;
  if (ONLY_MARKS.test(text) || OBJECT.test(text.toLowerCase())) return WORD;
  const [, id] = IN_BRACES.exec(text) ?? [];
  if (id !== undefined) return reasonOf(id);
  const inside = unwrapped(text);
  if (inside === '') return WORD;
  const reason = inside === text ? null : reasonOf(inside);
  if (reason !== null) return reason;
  if (isMacro(text)) return MACRO;
  if (!ENCODED.test(text)) return null;
  const plain = decoded(text);
  return plain !== text && isMacro(plain) ? MACRO : null;
}

const ZERO_WIDTH = /[\u200B-\u200F\u2060\uFEFF]/g;

/** A short text that begins or ends beyond ASCII as it looks: without invisible characters, and full-width letters as ordinary ones. */
function asSeen(text: string): string {
  if (text.length > LONGEST) return text;
  const isAscii = text.charCodeAt(0) < 128 && text.charCodeAt(text.length - 1) < 128;
  return isAscii ? text : text.replace(ZERO_WIDTH, '').normalize('NFKC').trim();
}

const isPlain = (text: string): boolean =>
  isAlphanumeric(text.charCodeAt(0)) && isAlphanumeric(text.charCodeAt(text.length - 1));

const LONGEST_WORD = 64;

function reasonOfIdWord(text: string): string | null {
  if (text.length > LONGEST_WORD) return null;
  const word = text.toLowerCase();
  if (WORDS.has(word) || ID_WORDS.has(word) || ZEROS.test(word)) return WORD;
  if (SHARED_IDS.has(word) || ALL_ONES.test(word)) return SHARED;
  const isOfWords =
    WORD_FIRST.test(word) && word.split(SEPARATORS).every((part) => WORDS.has(part) || /^0*$/.test(part));
  return isOfWords ? WORD : null;
}

const ZERO_UUID = /^0{8}-?(?:0{4}-?){3}0{12}$/;

function reasonOfNameWord(text: string): string | null {
  if (text.length > LONGEST_WORD) return null;
  const word = text.toLowerCase();
  if (WORDS.has(word) || ZERO_UUID.test(word)) return WORD;
  const isOfWords = WORD_FIRST.test(word) && word.split(SEPARATORS).every((part) => WORDS.has(part));
  return isOfWords ? WORD : null;
}

const reasonOfText = (text: string, reasonOf: (text: string) => string | null): string | null =>
  reasonOf(text) ?? (isPlain(text) ? null : reasonOfMarked(text, reasonOf));

/** Why an identifier (trimmed) identifies nothing; null if it may identify something. Completes a sentence: "device_id …". */
export const placeholderId = (text: string): string | null => reasonOfText(asSeen(text), reasonOfIdWord);

/** The same of a name, which may be what no identifier is. */
export const placeholderName = (text: string): string | null => reasonOfText(asSeen(text), reasonOfNameWord);

/** The warning about a placeholder in a field; null for anything else. Empty text is absent without one. */
export function placeholderFault(
  path: string,
  text: string,
  reasonOf: typeof placeholderId,
): { path: string; message: string } | null {
  const plain = text.trim();
  const reason = plain === '' ? null : reasonOf(plain);
  return reason === null ? null : { path, message: `${reason}; ${COUNTED_AS_ABSENT}` };
}
