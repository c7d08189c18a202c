import type { OsFamily } from '#catalogue';

const FAMILY_WORDS: readonly [RegExp, OsFamily][] = [
  [/\b(?:android|fire ?os|harmony)/i, 'android'],
  [/\bios\b|\b(?:iphone|ipad|ipod)/i, 'ios'],
  [/\bwindows/i, 'windows'],
  [/\bmac ?os|\bos ?x\b/i, 'macos'],
  [/\blinux|\bubuntu|\bdebian|\bcros\b/i, 'linux'],
];

const familyIn = (text: string) => FAMILY_WORDS.find(([words]) => words.test(text))?.[1];

/**
 * Parses an operating system: `"Android OS 16 / API-36"` is android 16. An SDK may send a bare version and name the system elsewhere
 * (`18.1` next to the device `iOS` and the model `iPhone`), so the first of the three texts that names a family decides the family. A
 * number after another system's name, such as `Darwin 24.1`, is not a version of that family.
 */
export function parseOs(
  osSystem: string,
  ...elsewhere: string[]
): { family: OsFamily; version: string | null } {
  const version = /\d+(?:\.\d+){0,3}/.exec(osSystem)?.[0] ?? null;
  const own = familyIn(osSystem);
  if (own) return { family: own, version };
  const family = elsewhere.map(familyIn).find((found) => found !== undefined);
  if (!family) return { family: 'other', version };
  return { family, version: /^\s*v?\d/i.test(osSystem) ? version : null };
}
