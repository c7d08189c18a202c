import type { Fault } from '#lib/input/fields';
import { MORE_WARNINGS } from '#lib/input/leniency';

/** Proxies and clients limit the headers of an answer, some to 8 KB in all. */
const MAX_CHARS = 4096;
const MAX_TEXT_CHARS = 512;

/** JSON of visible ASCII alone, as a header needs. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const cut = (text: string): string => text.slice(0, MAX_TEXT_CHARS);

/** The value of `X-Warnings`: a JSON list of what was dropped or replaced, as many as fit, the last of which says if there are more. Null if there is nothing. */
function warningsHeader(warnings: readonly Fault[]): string | null {
  const items: string[] = [];
  const more = asciiJson(MORE_WARNINGS);
  let length = '[]'.length + more.length;
  for (const { path, message } of warnings) {
    const item = asciiJson({ path: cut(path), message: cut(message) });
    length += item.length + ','.length;
    if (length > MAX_CHARS) {
      items.push(more);
      break;
    }
    items.push(item);
  }
  return items.length === 0 ? null : `[${items.join(',')}]`;
}

/** Adds the header `X-Warnings` to an answer whose body has no place for warnings. */
export function addWarnings(answer: Response, warnings: readonly Fault[]): void {
  const header = warningsHeader(warnings);
  if (header !== null) answer.headers.set('X-Warnings', header);
}
