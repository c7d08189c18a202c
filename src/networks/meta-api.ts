// What the reports of spend and the conversions API of Meta have in common.

export const META_API = 'https://graph.facebook.com/v24.0';

/** Codes of errors that pass, with HTTP 400: throttling, overload, temporary failures. Source: the codes that public clients retry. */
export const PASSING_CODES: ReadonlySet<number> = new Set([
  1, 2, 4, 17, 32, 341, 613, 80_000, 80_001, 80_002, 80_003, 80_004, 80_005, 80_006, 80_014,
]);
