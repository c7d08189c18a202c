import { underlying } from '../log.ts';

// The forms in which stores are written, and their numbers. A number is raised when an older release could not read the form correctly; additions that
// it ignores need none. What has no number was written before there were any, and is of format 1. Pure.

/**
 * By store: the number that this release writes and the highest that it reads, and how the store is called. A migration
 * that raises one also writes it into `store_formats`, where `npm run org` finds it before it deploys.
 */
export const STORE_FORMATS = {
  /** In D1, table `store_formats`. */
  database: { number: 1, name: 'the database' },
  /** In its table `progress`, column `format`. */
  counter: { number: 1, name: 'a counter' },
  /** In its table `state`, column `format`. */
  destination: { number: 1, name: 'a destination' },
  /** In its Parquet metadata, key `format`. */
  raw_file: { number: 1, name: 'a raw event file' },
  /** In its Parquet metadata, key `format`. */
  cube_part: { number: 1, name: 'a part of the cube' },
  /** In its `manifest.json`, field `version`. */
  snapshot: { number: 1, name: 'a snapshot' },
  /** In its first line, field `v`. */
  message: { number: 2, name: 'a queue message' },
} as const;

export type Store = keyof typeof STORE_FORMATS;

const BEGINNING = 'A store has a newer format';

/** What is wrong with a store in this format, and what to do; null if this release reads it. */
export function newerFormat(store: Store, found: number): string | null {
  const { name, number } = STORE_FORMATS[store];
  if (found <= number) return null;
  return `${BEGINNING}: ${name} has format ${found}, and this release knows ${number}. Nothing of it is read or changed. Deploy the release that wrote it, or a later one`;
}

/** Of the files, of which none says by itself that it is there: they are met one by one. */
const FILES = ['raw_file', 'cube_part'] as const satisfies readonly Store[];

/** The file that a sentence of `newerFormat` is of, and its format; null if it is of another store. */
export function newerFileIn(fault: string): { store: Store; number: number } | null {
  for (const store of FILES) {
    const [, number] = new RegExp(`: ${STORE_FORMATS[store].name} has format (\\d{1,9}),`).exec(fault) ?? [];
    if (number !== undefined) return { store, number: Number(number) };
  }
  return null;
}

/** What the rows of `store_formats` have that this release does not know, in sentences without their full stops. */
export const newerFormatsOf = (rows: readonly { store: string; number: number }[]) =>
  rows.flatMap(({ store, number }) => {
    const fault =
      store in STORE_FORMATS
        ? newerFormat(store as Store, number)
        : `${BEGINNING}: this release does not know the store ${store}. Deploy the release that wrote it, or a later one`;
    return fault === null ? [] : [{ store, fault }];
  });

/** A store was written by a release that is newer than this one. */
export class NewerFormatError extends Error {}

/** Throws `NewerFormatError` for a format that this release does not know. */
export function requireKnownFormat(store: Store, found: number): void {
  const fault = newerFormat(store, found);
  if (fault !== null) throw new NewerFormatError(fault);
}

/** The sentence of a `NewerFormatError`, also of one that came from another object as text; null for any other error. */
export function newerFormatIn(error: unknown): string | null {
  const text = String(underlying(error));
  const at = text.indexOf(BEGINNING);
  return at === -1 ? null : text.slice(at);
}

/** As metadata of a Parquet file. */
export const formatMetadata = (store: Store) => [
  { key: 'format', value: String(STORE_FORMATS[store].number) },
];

/** The format of a Parquet file. */
export const formatOf = (metadata: {
  key_value_metadata?: { key: string; value?: string | undefined }[] | undefined;
}): number => Number(metadata.key_value_metadata?.find(({ key }) => key === 'format')?.value ?? 1);
