import { and, between, eq, or, type SQL, sql } from 'drizzle-orm';
import { COST_DIMENSIONS, groupedAs, isCostDimension } from '#catalogue';
import { adsets, campaigns, commaList, costs, creatives, type Database, database, isAmong } from '#db';
import { type DimensionName, isNamed, isTime, spansOf } from '../dimensions.ts';
import { isUndecided, namesUndecided, possibleCosts } from '../filters.ts';
import { costNames } from '../names.ts';
import { type CostPeriod, hasCosts } from './cost-scan.ts';

// Costs may state fewer dimensions than a report asks for. Nobody knows in which of its rows they belong, so what the rows compute from spend
// is unknown, and not as if nothing had been spent.

/** The dimensions that costs do not state: those behind what was spent, and behind the impressions that costs state. */
export type Unstated = { spend: readonly DimensionName[]; impressions: readonly DimensionName[] };

export const NOTHING_UNSTATED: Unstated = { spend: [], impressions: [] };

export type UnplacedCosts = {
  /** Of a row, by the values of its key, in which such costs may belong. */
  ofRow(values: readonly (string | null)[]): Unstated;
  /** Of the row that sums up all others. */
  ofRest: Unstated;
  /** Of the totals: only what filters ask for may be unknown there. */
  ofTotals: Unstated;
};

export const ALL_PLACED: UnplacedCosts = {
  ofRow: () => NOTHING_UNSTATED,
  ofRest: NOTHING_UNSTATED,
  ofTotals: NOTHING_UNSTATED,
};

/** With more different costs than these, each row is taken for one in which they may belong. */
const MAX_PATTERNS = 20_000;

/** Costs name a campaign, and need not name an ad set or creative. */
const isFineName = (name: DimensionName) => name === 'adset' || name === 'creative';

type CostsAsked = CostPeriod & { names: readonly DimensionName[] };
type FoundCosts = Record<string, string | number | null>;

/** Which rows of a report by `names` lack costs of the period that do not state what it groups or filters by. */
export async function readUnplacedCosts(d1: D1Database, scan: CostsAsked): Promise<UnplacedCosts> {
  const { names, filters } = scan;
  const mayLack = isUndecided(filters) || names.some((name) => isCostDimension(name) || isFineName(name));
  if (!mayLack || !hasCosts(names) || filters.attribution === 'organic') return ALL_PLACED;
  const db = database(d1);
  const rows = await db.all<FoundCosts>(unplacedSql(scan));
  if (rows.length === 0) return ALL_PLACED;
  const placesOf = await readPlaces(db, scan, rows);
  const patterns = new Map<string, Unstated>();
  let [ofRest, ofTotals] = [NOTHING_UNSTATED, NOTHING_UNSTATED];
  for (const row of rows) {
    const byFilters = namesUndecided(filters).filter((name) => row[name] === '');
    const byGroups = names.filter((name) => row[name] === '' && !byFilters.some((own) => own === name));
    const of = (lacking: readonly DimensionName[]): Unstated => ({
      spend: row.spent ? lacking : [],
      impressions: row.shown ? lacking : [],
    });
    const own = of([...byFilters, ...byGroups]);
    const key = names
      .map((name, index) => tokenOf(name, row, spansOf(String(row.day), names)[index]))
      .join('\0');
    patterns.set(key, joined(patterns.get(key), own));
    ofRest = joined(ofRest, own);
    ofTotals = joined(ofTotals, of(byFilters));
  }
  const isCut = rows.length > MAX_PATTERNS;
  return {
    ofRow(values) {
      if (isCut) return ofRest;
      const tokens = names.map((name, index) => tokensOf(name, values[index] ?? '', placesOf));
      return keysOf(tokens).reduce((all, key) => joined(all, patterns.get(key)), NOTHING_UNSTATED);
    },
    ofRest,
    ofTotals,
  };
}

const joined = (left = NOTHING_UNSTATED, right = NOTHING_UNSTATED): Unstated => ({
  spend: [...new Set([...left.spend, ...right.spend])],
  impressions: [...new Set([...left.impressions, ...right.impressions])],
});

/** All combinations of one token each. */
const keysOf = (tokens: readonly (readonly string[])[]): string[] =>
  tokens
    .reduce<string[][]>((keys, own) => keys.flatMap((key) => own.map((token) => [...key, token])), [[]])
    .map((key) => key.join('\0'));

/** In place of a value that costs do not state. Of ad sets and creatives, it is any of one campaign, or of one ad set. */
const ANY = '*';
const anyOf = (campaign: unknown, adset: unknown = '') => `${ANY}${JSON.stringify([campaign, adset])}`;

function tokenOf(name: DimensionName, row: FoundCosts, span: string | null | undefined): string {
  if (isTime(name)) return span ?? '';
  const value = String(row[name] ?? '');
  if (value !== '') return groupedAs(name, value);
  if (name === 'adset') return anyOf(row.own_campaign);
  return name === 'creative' ? anyOf(row.own_campaign, row.own_adset) : ANY;
}

type Places = ReadonlyMap<string, { campaign: string; adset: string }>;

/** What of a row's value may be in costs: the value itself, or that they do not state it. Organic devices cost nothing. */
function tokensOf(name: DimensionName, value: string, placesOf: Places): string[] {
  if (isCostDimension(name)) return [value, ANY];
  if (!isNamed(name) || value === '') return [value];
  const place = placesOf.get(JSON.parse(value)[0] ?? '');
  if (!place) return [value];
  const { campaign, adset } = place;
  return [value, anyOf(campaign), ...(name === 'creative' ? [anyOf(campaign, adset)] : [])];
}

/** The campaign and ad set of each ad set or creative that such costs may be of, by id. */
async function readPlaces(
  db: Database,
  { applicationId, names }: CostsAsked,
  rows: readonly FoundCosts[],
): Promise<Places> {
  if (!names.some(isFineName)) return new Map();
  const within = [...new Set(rows.map(({ own_campaign: own }) => String(own)))];
  const found = await db
    .select({ creative: creatives.id, adsetId: adsets.id, adset: adsets.name, campaign: campaigns.name })
    .from(campaigns)
    .innerJoin(adsets, eq(adsets.campaignId, campaigns.id))
    .leftJoin(creatives, and(eq(creatives.adsetId, adsets.id), eq(creatives.applicationId, applicationId)))
    .where(and(eq(campaigns.applicationId, applicationId), isAmong(campaigns.name, within)));
  return new Map(
    found.flatMap(({ creative, adsetId, adset, campaign }) =>
      [creative, adsetId].map((id) => [id ?? '', { campaign, adset }] as const),
    ),
  );
}

/** SQL for the different costs that do not state what a report groups or filters by, with what they state of it. */
function unplacedSql({ applicationId, from, to, filters, names }: CostsAsked): SQL {
  const byName = costNames(applicationId);
  const undecided = namesUndecided(filters);
  const asked = [...new Set([...names, ...undecided])];
  const named = asked.filter(isNamed);
  const stated = COST_DIMENSIONS.filter((name) => asked.includes(name));
  const values: { alias: string; value: SQL }[] = [
    ...(names.some(isTime) ? [{ alias: 'day', value: sql`${costs.day}` }] : []),
    ...(names.includes('currency') ? [{ alias: 'currency', value: sql`${costs.currency}` }] : []),
    ...stated.map((name) => ({ alias: name, value: sql`${costs[name]}` })),
    ...named.map((name) => ({ alias: name, value: byName[name] })),
    ...(named.length > 0
      ? [
          { alias: 'own_campaign', value: sql`${costs.campaign}` },
          { alias: 'own_adset', value: sql`${costs.adset}` },
        ]
      : []),
  ];
  const isMissing = [
    ...stated.map((name) => eq(costs[name], '')),
    ...named.filter(isFineName).map((name) => eq(costs[name], '')),
  ];
  const columns = values.map(({ alias, value }) => sql`${value} AS ${sql.identifier(alias)}`);
  return sql`SELECT ${commaList([
    ...columns,
    sql`max(${costs.amount} <> 0) AS spent`,
    sql`max(coalesce(${costs.impressions}, 0) > 0) AS shown`,
  ])} FROM ${costs} WHERE ${and(
    eq(costs.applicationId, applicationId),
    between(costs.day, from, to),
    possibleCosts(applicationId, filters),
    or(...isMissing) ?? sql`false`,
  )} ${values.length === 0 ? sql`` : sql`GROUP BY ${commaList(values.map((_, at) => sql.raw(String(at + 1))))}`}
  HAVING spent OR shown LIMIT ${MAX_PATTERNS + 1}`;
}
