/** The families between which no phone changes. */
export const OS_FAMILIES = ['android', 'ios', 'windows', 'macos', 'linux', 'other'] as const;
export type OsFamily = (typeof OS_FAMILIES)[number];

const FAMILY_WORDS: readonly [RegExp, OsFamily][] = [
  [/\b(?:android|fire ?os|harmony)/i, 'android'],
  [/\b(?:ios|iphone ?os|ipad ?os)\b/i, 'ios'],
  [/\bwindows/i, 'windows'],
  [/\bmac ?os|\bos ?x\b/i, 'macos'],
  [/\blinux|\bubuntu|\bdebian|\bcros\b/i, 'linux'],
];

/** `"Android OS 16 / API-36"` → android, 16; `"iOS 17.4.1"` → ios, 17.4.1. */
export function parseOsSystem(text: string): { family: OsFamily; version: string | null } {
  const family = FAMILY_WORDS.find(([words]) => words.test(text))?.[1] ?? 'other';
  return { family, version: /\d+(?:\.\d+){0,3}/.exec(text)?.[0] ?? null };
}
