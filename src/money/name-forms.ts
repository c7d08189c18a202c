import { and, eq, or } from 'drizzle-orm';
import { adsets, campaigns, creatives, type Database, isAmong } from '#db';
import { composed, nameForms } from '#lib/input/name-forms';
import type { CostValues } from './cost-names.ts';

const NAMES_AT = [1, 2, 3];

/** The keys under which an earlier release may have stored a row, whose names have two forms in Unicode. */
export const otherForms = (key: readonly string[]): string[][] => {
  const forms = [composed, (name: string) => name.normalize('NFD')].map((form) =>
    key.map((text, index) => (NAMES_AT.includes(index) ? form(text) : text)),
  );
  return forms.filter((one) => one.some((text, index) => text !== key[index]));
};

/**
 * Rows under the names that the application has for their names, whichever form of Unicode they are in, and else in the composed form. Reads nothing
 * if no name has two forms.
 */
export async function toStoredForms(
  db: Database,
  applicationId: string,
  rows: readonly CostValues[],
): Promise<CostValues[]> {
  const forms = [...new Set(rows.flatMap(({ key }) => NAMES_AT.flatMap((at) => nameForms(key[at] ?? ''))))];
  const decomposed = forms.filter((name) => composed(name) !== name);
  if (decomposed.length === 0) return [...rows];
  const known = await db
    .select({ campaign: campaigns.name, adset: adsets.name, creative: creatives.name })
    .from(campaigns)
    .innerJoin(adsets, eq(adsets.campaignId, campaigns.id))
    .innerJoin(creatives, eq(creatives.adsetId, adsets.id))
    .where(
      and(
        eq(campaigns.applicationId, applicationId),
        or(...[campaigns.name, adsets.name, creatives.name].map((name) => isAmong(name, decomposed))),
      ),
    );
  const stored = new Map<string, string>();
  for (const { campaign, adset, creative } of known) {
    const path = [campaign, adset, creative];
    for (const [index, name] of path.entries()) stored.set(pathOf(path.slice(0, index + 1)), name);
  }
  return rows.map((row) => {
    const path = NAMES_AT.map((at) => row.key[at] ?? '');
    const key = row.key.map((text, index) =>
      NAMES_AT.includes(index) ? (stored.get(pathOf(path.slice(0, index))) ?? composed(text)) : text,
    );
    return { ...row, key };
  });
}

const pathOf = (names: readonly string[]) => names.map(composed).join('\0');
