import { parseJson } from './exact-json.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON object in a text, as `parseExactJson` reads it; null for anything else. */
export function readObject(text: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = parseJson(text);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
