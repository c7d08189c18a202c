// Searches ignore case in every script. SQLite's `lower` only converts ASCII letters, so a search in SQL replaces the others that it needs.

/** Letters that are not the upper case of their folded form: a dotted I, digraphs in title case, a final sigma, Greek letters with an iota, units. */
const IRREGULAR = [...'İǅǈǋǲςϴẞᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼ', ...['\u2126', '\u212a', '\u212b']];

/** One letter for one letter, whatever surrounds it: a final sigma is a sigma. */
const foldLetter = (letter: string): string =>
  letter === 'ς' ? 'σ' : String.fromCodePoint(letter.toLowerCase().codePointAt(0) ?? 0);

/** The form that is equal for texts that differ in case only, and are in the same form of Unicode. */
export const foldCase = (text: string): string => Array.from(text, foldLetter).join('');

/** Whether a text contains another, in any case and form of Unicode. */
export const containsText = (text: string, q: string): boolean =>
  foldCase(text.normalize('NFC')).includes(foldCase(q.normalize('NFC')));

/** The letters beyond ASCII that fold to a letter of a text, with that letter. */
export function lettersFoldedTo(text: string): [letter: string, folded: string][] {
  const wanted = new Set(foldCase(text));
  const candidates = new Set([...Array.from(wanted, (folded) => folded.toUpperCase()), ...IRREGULAR]);
  return [...candidates].flatMap((letter): [string, string][] => {
    const folded = foldCase(letter);
    return letter > '\x7f' && letter !== folded && wanted.has(folded) ? [[letter, folded]] : [];
  });
}

/** A statement replaces each of these letters by a call around the last, and D1 allows calls within calls up to a depth of 100. */
export const MAX_FOLDED_LETTERS = 60;
