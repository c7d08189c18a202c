/** What may turn the direction of the text around it: scripts written from right to left (Bidi_Class R and AL), and invisible controls. */
const TURNS =
  /[\u0590-\u08ff\u200f\u202a-\u202e\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Isolates of the name's own would end this one. */
const ISOLATES = /[\u2066-\u2069]/g;

/**
 * A name for the middle of a sentence in plain text: in Unicode's isolates if it may be written from right to left, so that what surrounds it
 * keeps its place. In HTML, an element of its own (`<bdi>`) does the same.
 */
export function isolate(name: string): string {
  const own = name.replace(ISOLATES, '');
  return TURNS.test(own) ? `\u2068${own}\u2069` : own;
}
