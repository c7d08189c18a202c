import { asc, eq } from 'drizzle-orm';
import * as z from 'zod';
import { auditStatement, type Caller } from '#audit';
import { type Database, skanSchemas } from '#db';
import { currencyCode, dayText, optionalName, requiredNumber } from '#http';
import { iso } from '#lib/time';
import { type ApplicationRow, nameOf } from '#teams';
import type { ConversionSchema } from './answers.ts';
import { COARSE_VALUES, MAX_FINE_VALUE, type Postback, WINDOWS } from './postback.ts';

const MAX_VERSIONS = 50;
const MAX_REVENUE = 1e9;

const optionalRevenue = () => requiredNumber(MAX_REVENUE).optional();

/** What a conversion value means. Without an amount, it means no revenue; with only one, exactly that. */
const ConversionMeaning = z
  .object({
    event: optionalName(128),
    revenue_min: optionalRevenue(),
    revenue_max: optionalRevenue(),
  })
  .transform(({ event, revenue_min, revenue_max }) => ({
    event: event ?? null,
    revenue_min: revenue_min ?? 0,
    revenue_max: revenue_max ?? revenue_min ?? 0,
  }))
  .refine(({ revenue_min, revenue_max }) => revenue_min <= revenue_max, {
    path: ['revenue_max'],
    message: 'must be at least revenue_min',
  });
export type ConversionMeaning = z.output<typeof ConversionMeaning>;

const fineFault = `must be a whole number from 0 to ${MAX_FINE_VALUE}`;
const FineValue = z
  .string()
  .regex(/^(?:0|[1-9]\d?)$/, fineFault)
  .refine((text) => Number(text) <= MAX_FINE_VALUE, fineFault);

const windowMeanings = z.strictObject(
  Object.fromEntries(COARSE_VALUES.map((value) => [value, ConversionMeaning.optional()])) as Record<
    (typeof COARSE_VALUES)[number],
    z.ZodOptional<typeof ConversionMeaning>
  >,
);

/** What conversion values mean from a day on. Only the first window has fine values. */
export const SchemaVersion = z.object({
  valid_from: dayText(),
  currency: currencyCode(),
  fine: z.record(FineValue, ConversionMeaning).default({}),
  coarse: z
    .strictObject(
      Object.fromEntries(WINDOWS.map((window) => [window, windowMeanings.optional()])) as Record<
        `${(typeof WINDOWS)[number]}`,
        z.ZodOptional<typeof windowMeanings>
      >,
    )
    .default({}),
});
export type SchemaVersion = z.output<typeof SchemaVersion>;

/** Body of `PUT /v1/applications/:id/skan-schema`: all versions. */
export const NewConversionSchema = z
  .object({
    versions: z
      .array(SchemaVersion, { error: 'must be a list of versions' })
      .max(MAX_VERSIONS, `must have at most ${MAX_VERSIONS} versions`),
  })
  .superRefine(({ versions }, ctx) => {
    const seen = new Set<string>();
    for (const [index, { valid_from }] of versions.entries()) {
      if (seen.has(valid_from)) {
        const path = ['versions', index, 'valid_from'];
        ctx.addIssue({ code: 'custom', path, message: 'is the day of another version' });
      }
      seen.add(valid_from);
    }
  });

/** An application's schema: its versions, the oldest first. */
export async function readSchema(db: Database, applicationId: string): Promise<ConversionSchema> {
  const rows = await db
    .select()
    .from(skanSchemas)
    .where(eq(skanSchemas.applicationId, applicationId))
    .orderBy(asc(skanSchemas.validFrom));
  const updatedAt = rows.reduce((latest, row) => Math.max(latest, row.updatedAt), 0);
  return {
    versions: rows.map(({ version }) => version as SchemaVersion),
    updated_at: updatedAt === 0 ? null : iso(updatedAt),
  };
}

/** Replaces an application's schema. It applies to postbacks that have arrived as well: reports read it anew. Idempotent. */
export async function saveSchema(
  caller: Caller,
  application: ApplicationRow,
  versions: readonly SchemaVersion[],
): Promise<ConversionSchema> {
  const { db, now } = caller;
  await db.batch([
    auditStatement(caller, 'skan_schema.saved', `${nameOf(application)}, versions: ${versions.length}`),
    db.delete(skanSchemas).where(eq(skanSchemas.applicationId, application.id)),
    ...versions.map((version) =>
      db
        .insert(skanSchemas)
        .values({ applicationId: application.id, validFrom: version.valid_from, version, updatedAt: now }),
    ),
  ]);
  return readSchema(db, application.id);
}

/** What a postback's value means; null if it has none, or if the version does not say. */
export function meaningOf(
  version: SchemaVersion | null,
  { sequence, fine, coarse }: Pick<Postback, 'sequence' | 'fine' | 'coarse'>,
): ConversionMeaning | null {
  if (!version) return null;
  if (fine !== null) return (sequence === 0 && version.fine[String(fine)]) || null;
  const window = WINDOWS[sequence];
  return (window && coarse && version.coarse[window]?.[coarse]) || null;
}
