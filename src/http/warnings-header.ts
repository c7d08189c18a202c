import type { Fault } from '#lib/input/fields';

const BEYOND_ASCII = /[^ -~]/g;
const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Names what was dropped of a request whose body of the answer has a fixed form, as JSON in ASCII. Nothing without warnings. */
export function setWarnings({ headers }: Response, warnings: readonly Fault[]): void {
  if (warnings.length === 0) return;
  headers.set('X-Warnings', JSON.stringify(warnings).replace(BEYOND_ASCII, escaped));
}
