/** The fields that are there: absent ones should travel neither through the queue nor into the log. */
export function present<Fields extends Record<string, unknown>>(fields: Fields) {
  // Not by assignment: a parameter may be called `__proto__`.
  const kept = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return kept as { [Key in keyof Fields]: Exclude<Fields[Key], undefined> };
}
