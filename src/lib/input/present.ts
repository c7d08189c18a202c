/** Removes fields that are undefined, so that neither the queue nor the log carries them. */
export function present<Fields extends Record<string, unknown>>(fields: Fields) {
  // Not built by assignment, because a parameter may be called `__proto__`.
  const kept = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return kept as { [Key in keyof Fields]: Exclude<Fields[Key], undefined> };
}
