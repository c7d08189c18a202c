import * as z from 'zod';
import { invalidRequest, readAs } from '#http';

const FRAMEWORKS = ['skadnetwork', 'adattributionkit'] as const;
export const CONVERSIONS = ['download', 'redownload', 're-engagement'] as const;
export const COARSE_VALUES = ['low', 'medium', 'high'] as const;
type CoarseValue = (typeof COARSE_VALUES)[number];
/** Days 0 to 2, 3 to 7, and 8 to 35 after the install. Postback n, from 0, reports window n + 1. */
export const WINDOWS = [1, 2, 3] as const;
export const MAX_FINE_VALUE = 63;

/** A verified postback of either framework. */
export type Postback = {
  framework: (typeof FRAMEWORKS)[number];
  /** Of SKAdNetwork, such as `4.0`. */
  version: string | null;
  /** Unique together with `sequence`. */
  transactionId: string;
  /** 0 to 2. */
  sequence: number;
  /** The App Store id of the advertised app. */
  appId: string;
  /** The ad network's id, such as `example123.skadnetwork`. */
  network: string;
  /** SKAdNetwork 4 and AdAttributionKit: up to four digits. Before: the campaign's number. */
  sourceIdentifier: string;
  /** The App Store id of the app, or the domain of the web page, that showed the ad. Null if Apple withholds it. */
  sourceApp: string | null;
  /** 1: the ad was rendered by the App Store's sheet. 0: it was seen. Null if the framework does not tell. */
  fidelity: number | null;
  conversion: (typeof CONVERSIONS)[number];
  didWin: boolean;
  /** Whether a device in development sent it: no real person installed anything. */
  test: boolean;
  // What follows is not signed by Apple. Whoever has seen a postback can send it again with other values.
  fine: number | null;
  coarse: CoarseValue | null;
  country: string | null;
  interaction: 'click' | 'view' | null;
};

/** Reads fields, or throws `invalid_request` that names what is wrong. */
export function readFields<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidRequest([{ path: '', message: 'The body must be a JSON object' }]);
  }
  return readAs(schema, body);
}

const missingOr = (message: string) => ({
  error: (issue: { input?: unknown }) => (issue.input === undefined ? 'is required' : message),
});

/** Text without the separator of SKAdNetwork's signed fields, which would let one field pose as two. */
export const postbackText = (max = 128) =>
  z
    .string(missingOr('must be text'))
    .min(1, 'is required')
    .max(max, `must be at most ${max} characters`)
    .refine(
      (text) => !/[\u2063\0]/.test(text) && text.isWellFormed(),
      'must not contain invisible characters',
    );

const APP_STORE_ID = 'must be an App Store id';
/** An App Store id, as text. It is exact: the body was read with `parseExactJson`. */
export const appStoreId = () =>
  z
    .union(
      [z.int(APP_STORE_ID).min(0, APP_STORE_ID), z.string().regex(/^\d{1,20}$/, APP_STORE_ID)],
      missingOr(APP_STORE_ID),
    )
    .transform(String);

export const wholeNumber = (max: number) => {
  const fault = `must be a whole number from 0 to ${max}`;
  return z.int(missingOr(fault)).min(0, fault).max(max, fault);
};
export const trueOrFalse = () => z.boolean(missingOr('must be true or false'));
export const oneWord = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, missingOr(`must be one of ${words.join(', ')}`));

/** The unsigned fields that both frameworks share. */
export const values = () => ({
  'conversion-value': wholeNumber(MAX_FINE_VALUE).nullish(),
  'coarse-conversion-value': oneWord(COARSE_VALUES).nullish(),
});
