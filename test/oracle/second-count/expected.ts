import type { Sent } from '../history.ts';
import * as naive from '../naive.ts';
import { type Cost, CREATIVES, rateInto, STATED, statedBy } from '../setup.ts';
import { isOneOf, localHour, NAMED, type Named, type Question, SPANS, type World } from './question.ts';

// What an answer must be: rows with the columns that name them and their figures, and the other fields. Fields that are not named are
// not compared.

export type Columns = Record<string, string | number | null>;
export type Expected = {
  rows: { columns: Columns; figures: Record<string, unknown> }[];
  rest: Record<string, unknown>;
};

export const requestOf = ({ payload }: Sent) => (payload.params ?? {}) as Record<string, string>;
export const isSourced = (event: Sent) => naive.isAd(event) || naive.isRequest(event);
export const sourceOf = (event: Sent) =>
  String(naive.isRequest(event) ? requestOf(event).key : event.payload.source);
export const networkOf = ({ payload }: Sent) => (payload.media_source as string | undefined) ?? null;

const namedColumns = (world: World, name: Named, creative: number | null): Columns => ({
  [name]: creative === null ? null : (CREATIVES[creative]?.[name] ?? null),
  [`${name}_id`]: creative === null ? null : (world.ids[creative]?.[name] ?? null),
});

/** What a device is grouped by; its versions are those it came with. */
export function deviceColumns(world: World, group: string | undefined, event: Sent): Columns {
  if (group === undefined) return {};
  if (group === 'app_version') return { app_version: event.firstVersion };
  if (group === 'sdk_version') return { sdk_version: event.firstSdk };
  return eventColumns(world, group, event);
}

export function eventColumns(world: World, group: string, event: Sent): Columns {
  const named = NAMED.find((name) => name === group);
  if (named) return namedColumns(world, named, event.creative);
  const span = SPANS[group];
  if (span) return { [group]: span(event.day) };
  const { payload } = event;
  switch (group) {
    case 'hour':
      return { hour: localHour(world.zone, event.at) };
    case 'country':
      return { country: event.country || null };
    case 'os':
      return { os: event.os || null };
    case 'network':
      return { network: event.network || null };
    case 'app_version':
      return { app_version: event.version };
    case 'sdk_version':
      return { sdk_version: event.sdk };
    case 'source':
      return { source: sourceOf(event) };
    case 'media_source':
      return { media_source: networkOf(event) };
    case 'placement':
      return { placement: String(naive.isRequest(event) ? requestOf(event).id : payload.ad_id) };
    case 'item':
      return { item: String(payload.item_id) };
    case 'event_name':
      return { event_name: String(payload.event_name) };
    case 'currency':
      return { currency: String(payload.currency) };
    default:
      throw new Error(`no column for ${group}`);
  }
}

/** The id that the names of a cost have; null if none has these names, undefined if it gives no such name. */
export function costId(world: World, name: Named, cost: Cost): string | null | undefined {
  if (!cost[name]) return undefined;
  const fits = (index: number) => {
    const own = CREATIVES[index];
    if (own?.campaign !== cost.campaign) return false;
    if (name === 'campaign') return true;
    if (name === 'adset') return own.adset === cost.adset;
    return own.creative === cost.creative && (!cost.adset || own.adset === cost.adset);
  };
  // The creatives are in the order in which they were made: of several, the oldest.
  const index = CREATIVES.findIndex((_, at) => fits(at));
  return index < 0 ? null : (world.ids[index]?.[name] ?? null);
}

/** Undefined if it is in no row of this grouping. */
export function costColumns(world: World, group: string, cost: Cost): Columns | undefined {
  const named = NAMED.find((name) => name === group);
  if (named) {
    const id = costId(world, named, cost);
    return id === undefined ? undefined : { [named]: cost[named] ?? null, [`${named}_id`]: id };
  }
  const span = SPANS[group];
  if (span) return { [group]: span(cost.date) };
  const stated = STATED.find((name) => name === group);
  if (stated) return statedBy(cost)[stated] === '' ? undefined : { [stated]: statedBy(cost)[stated] };
  return group === 'currency' ? { currency: cost.currency } : undefined;
}

export type CostAmount = naive.Spend & { cost: Cost };

/** Whether a cost that names no ad set or creative may be of one of these ids. */
function mayBeNamed(world: World, name: Named, cost: Cost, ids: readonly unknown[]): boolean {
  if (cost[name]) return false;
  return CREATIVES.some(
    (own, at) =>
      own.campaign === cost.campaign &&
      (!cost.adset || own.adset === cost.adset) &&
      ids.includes(world.ids[at]?.[name]),
  );
}

/** Costs that filters ask for or may ask for; `isOpen` if they do not state what decides that. */
function possibleIn(world: World, { from, to, filters }: Question) {
  return world.costs.flatMap((cost) => {
    if (cost.date < from || cost.date > to || filters.attribution === 'organic') return [];
    let isOpen = false;
    for (const name of STATED) {
      const own = statedBy(cost)[name];
      if (isOneOf(filters[name], own)) continue;
      if (own !== '') return [];
      isOpen = true;
    }
    for (const name of NAMED) {
      const wanted = filters[`${name}_id`];
      const id = costId(world, name, cost);
      if (wanted === undefined || (typeof id === 'string' && wanted.includes(id))) continue;
      if (!mayBeNamed(world, name, cost, wanted)) return [];
      isOpen = true;
    }
    return [{ cost, isOpen, impressions: cost.impressions ?? 0, nanos: naive.nanosIn(cost.amount) }];
  });
}

/** Costs that may be of a row, or with filters of the totals, and do not state all that is asked for. `columns` are the row's. */
export function unplacedIn(world: World, question: Question, columns?: Columns) {
  return possibleIn(world, question).filter(({ cost, isOpen }) => {
    if (columns === undefined) return isOpen;
    let lacks = isOpen;
    for (const group of question.groups) {
      const own = costColumns(world, group, { ...cost });
      if (own) {
        const isSame = Object.entries(own).every(([name, value]) => columns[name] === value);
        if (!isSame) return false;
        continue;
      }
      const named = NAMED.find((name) => name === group);
      if (named && !mayBeNamed(world, named, cost, [columns[`${named}_id`]])) return false;
      lacks = true;
    }
    return lacks;
  });
}

/** What was spent in the period on what the filters select. All spend is on creatives. */
export const spentIn = (world: World, question: Question): CostAmount[] =>
  spentOnNames(world, question).filter(({ cost }) =>
    STATED.every((name) => isOneOf(question.filters[name], statedBy(cost)[name])),
  );

/** What the filters leave out only because the costs do not state what they filter by; undefined if nothing. */
export function unallocatedIn(world: World, question: Question) {
  const { filters } = question;
  const amounts = spentOnNames(world, question).filter(({ cost }) => {
    const own = statedBy(cost);
    const lacks = STATED.filter((name) => own[name] === '' && !isOneOf(filters[name], ''));
    return lacks.length > 0 && STATED.every((name) => own[name] === '' || isOneOf(filters[name], own[name]));
  });
  const listed = naive.unconverted(amounts, () => null);
  return listed.length === 0 ? undefined : listed;
}

/** What was spent in the period on the creatives that the filters select. */
const spentOnNames = (world: World, { from, to, filters }: Question): CostAmount[] =>
  world.costs
    .filter(
      (cost) =>
        cost.date >= from &&
        cost.date <= to &&
        filters.attribution !== 'organic' &&
        NAMED.every((name) => {
          const wanted = filters[`${name}_id`];
          const id = costId(world, name, cost);
          return wanted === undefined || (typeof id === 'string' && wanted.includes(id));
        }),
    )
    .map((cost) => ({
      cost,
      day: cost.date,
      currency: cost.currency,
      nanos: naive.nanosIn(cost.amount),
      impressions: cost.impressions,
    }));

/** The exchange rates of the world into its reporting currency. Each is looked up once. */
export function ratesOf({ published, currency }: World): naive.RateOn {
  const rateOn = rateInto(published, currency);
  const known = new Map<string, naive.Ratio | null>();
  return (code, day) => {
    const key = `${code}${day}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const rate = rateOn(code, day);
    known.set(key, rate);
    return rate;
  };
}

export const keyOf = (columns: Columns): string =>
  JSON.stringify(Object.entries(columns).sort(([left], [right]) => (left < right ? -1 : 1)));

/** Puts items into the rows that their columns name. */
export function groupByColumns<Item>(items: readonly Item[], columnsOf: (item: Item) => Columns | undefined) {
  const groups = new Map<string, { columns: Columns; items: Item[] }>();
  for (const item of items) {
    const columns = columnsOf(item);
    if (!columns) continue;
    const key = keyOf(columns);
    const group = groups.get(key) ?? { columns, items: [] };
    groups.set(key, group);
    group.items.push(item);
  }
  return groups;
}

export const allColumns = (parts: (Columns | undefined)[]): Columns | undefined =>
  parts.includes(undefined) ? undefined : Object.assign({}, ...parts);
