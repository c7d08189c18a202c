// A letter with an accent has two forms in Unicode, which look the same: `é` as one character, or `e` and an accent. Names are compared in the
// composed form (NFC), in which new ones are stored. Earlier ones may be stored in either.

/** A name in the form in which names are compared. */
export const composed = (name: string): string => name.normalize('NFC');

/** The forms in which a name may be stored. One for most names. */
export const nameForms = (name: string): string[] => [
  ...new Set([name.normalize('NFC'), name, name.normalize('NFD')]),
];
