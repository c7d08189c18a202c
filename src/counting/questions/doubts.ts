import { and, asc, between, gt, sql } from 'drizzle-orm';
import {
  attributionOf,
  type DoubtFacts,
  type DoubtSettings,
  doubtsOf,
  isSegmentDimension,
  type Segment,
} from '#catalogue';
import { firstIdAt } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import type { DeviceFilter, DoubtedGroups, DoubtsAnswer, DoubtsQuestion } from '../api-questions.ts';
import { queryCounters } from '../query-counters.ts';
import { devices, openCredits } from '../schema.ts';
import type { CounterBindings, ShardedApplication } from '../shards.ts';
import type { ObjectStore } from '../store.ts';

/** The number of devices after which the object does other work. */
const DEVICES_PER_STEP = 2_000;

type Counts = DoubtedGroups[number];

const nothing = (): Omit<Counts, 'key'> => ({ installs: 0, doubted: 0, excluded: 0, rules: {} });

/** Ids begin with the time of their creation, and no device is acquired after it. A day more than any time zone is ahead of UTC. */
const firstIdOf = (day: string) => firstIdAt('dev', Date.parse(day) - DAY_MS);

type DoubtedDevice = {
  /** That which its install would count for if no rule excluded it. */
  creativeId: string;
  isExcluded: boolean;
  segment: Partial<Segment>;
};

function matcherOf({ creativeIds, segment = {}, attribution }: DeviceFilter) {
  const creatives = creativeIds && new Set(creativeIds);
  const wanted = Object.entries(segment).flatMap(([name, values]) =>
    isSegmentDimension(name) ? [[name, new Set(values)] as const] : [],
  );
  return (device: DoubtedDevice): boolean => {
    if (attribution && attributionOf(device.isExcluded ? '' : device.creativeId) !== attribution)
      return false;
    if (creatives && !creatives.has(device.creativeId)) return false;
    return wanted.every(([name, values]) => values.has(device.segment[name] ?? ''));
  };
}

function keyOf({ creativeId, segment }: DoubtedDevice, groupBy: DoubtsQuestion['groupBy']): string {
  if (groupBy === null) return '';
  return groupBy === 'creative' ? creativeId : (segment[groupBy] ?? '');
}

/** See `CounterApi.doubts`. */
export async function countDoubts(
  store: ObjectStore,
  { cohort, filter, groupBy, settings, sources, judged }: DoubtsQuestion,
): Promise<DoubtsAnswer> {
  const groups = new Map<string, Counts>();
  /** By creative and day of the install. */
  const delays = new Map(sources.map((source) => [sourceKey(source), new Map<number, number>()]));
  const judgedDays = new Map(
    judged.map(({ creativeId, facts }) => [sourceKey({ creativeId, day: facts.day }), facts]),
  );
  const isWanted = matcherOf(filter);
  const facts = sql<string | null>`${devices.attribution} -> 'doubt_facts'`;
  for (let after = firstIdOf(cohort.from); ; ) {
    const page = store
      .select({
        id: devices.id,
        day: devices.acquiredDay,
        creativeId: sql<string>`coalesce(${devices.attribution} -> 'excluded' ->> 'creative_id', ${devices.creativeId})`,
        isExcluded: sql<number>`${devices.attribution} -> 'excluded' IS NOT NULL`,
        segment: sql<string | null>`${devices.description} -> 'segment'`,
        facts,
      })
      .from(devices)
      .where(
        and(
          gt(devices.id, after),
          between(devices.acquiredDay, cohort.from, cohort.to),
          sql`${facts} IS NOT NULL`,
          // Their installs are not counted yet.
          sql`NOT EXISTS (SELECT 1 FROM ${openCredits} WHERE ${openCredits.deviceId} = ${devices.id})`,
        ),
      )
      .orderBy(asc(devices.id))
      .limit(DEVICES_PER_STEP)
      .all();
    for (const row of page) {
      const segment: Partial<Segment> = JSON.parse(row.segment ?? '{}');
      const device = { creativeId: row.creativeId, isExcluded: row.isExcluded === 1, segment };
      if (!isWanted(device)) continue;
      const key = keyOf(device, groupBy);
      const counts = groups.get(key) ?? { key, ...nothing() };
      groups.set(key, counts);
      const known: DoubtFacts = JSON.parse(row.facts ?? '{}');
      const now = known.clicked_at === null ? undefined : judgedDays.get(sourceKey(row));
      add(counts, now ? { ...known, source_day: now } : known, settings, device.isExcluded);
      const own = delays.get(sourceKey(row));
      if (own) noteDelay(own, known);
    }
    const last = page.at(-1);
    if (!last || page.length < DEVICES_PER_STEP) break;
    after = last.id;
    await scheduler.wait(0);
  }
  const delaysOf = (source: DoubtsQuestion['sources'][number]) =>
    Array.from(delays.get(sourceKey(source)) ?? [], ([seconds, installs]) => ({ seconds, installs }));
  return {
    groups: [...groups.values()],
    delays: sources.map((source) => ({ ...source, delays: delaysOf(source) })),
  };
}

/** Notes the time from the click to the first open. */
function noteDelay(delays: Map<number, number>, { clicked_at, first_opened_at }: DoubtFacts): void {
  if (clicked_at === null) return;
  // A device's clock may be behind.
  const seconds = Math.max(0, first_opened_at - clicked_at) / 1000;
  const rounded = Number(seconds.toPrecision(3));
  delays.set(rounded, (delays.get(rounded) ?? 0) + 1);
}

const sourceKey = ({ creativeId, day }: { creativeId: string; day: string }) => `${creativeId}/${day}`;

function add(counts: Counts, facts: DoubtFacts, settings: DoubtSettings, isExcluded: boolean): void {
  const { doubts, notChecked } = doubtsOf(facts, settings);
  counts.installs += 1;
  counts.doubted += doubts.length > 0 ? 1 : 0;
  counts.excluded += isExcluded ? 1 : 0;
  for (const { rule } of doubts) ruleIn(counts, rule).doubted += 1;
  for (const rule of notChecked) ruleIn(counts, rule).notChecked += 1;
}

function ruleIn({ rules }: Pick<Counts, 'rules'>, id: string) {
  rules[id] ??= { doubted: 0, notChecked: 0 };
  return rules[id];
}

/** See `CounterApi.doubts`. A group may be in the answers of several counters. */
export async function queryDoubts(
  env: CounterBindings,
  application: ShardedApplication,
  question: DoubtsQuestion,
): Promise<DoubtsAnswer> {
  const answers = await queryCounters(env, application, (counter) => counter.doubts(question));
  return {
    groups: answers.flatMap(({ groups }) => groups),
    delays: question.sources.map((source, index) => ({
      ...source,
      delays: answers.flatMap(({ delays }) => delays[index]?.delays ?? []),
    })),
  };
}

/** Adds up the counts of groups, or of counters: a device is in one counter. */
export function sumDoubts(answered: DoubtedGroups): Omit<Counts, 'key'> {
  const sum = nothing();
  for (const { installs, doubted, excluded, rules } of answered) {
    sum.installs += installs;
    sum.doubted += doubted;
    sum.excluded += excluded;
    for (const [id, own] of Object.entries(rules)) {
      const rule = ruleIn(sum, id);
      rule.doubted += own.doubted;
      rule.notChecked += own.notChecked;
    }
  }
  return sum;
}
