// Numbers in a text by name, such as `usdA9n8P5`: each has the capital letter that names it, and is in base 36. So they may be added and
// removed, and the text is a third of JSON's, without characters that JSON escapes.

const FORM = /^[^A-Z]*(?:[A-Z][0-9a-z]+)+$/;
const [A, Z] = [65, 90];

/** `number` is a whole number that is not negative. */
export const lettered = (letter: string, number: number): string => letter + number.toString(36);

/** Passes on the numbers of a text, and returns what is before them. Throws on a text without any, or of another form. */
export function readLettered(text: string, take: (letter: string, number: number) => void): string {
  if (!FORM.test(text)) throw new Error('not a text with lettered numbers');
  let end = text.length;
  for (let at = end - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code < A || code > Z) continue;
    take(text.charAt(at), Number.parseInt(text.slice(at + 1, end), 36));
    end = at;
  }
  return text.slice(0, end);
}
