import { and, asc, between, gt, sql } from 'drizzle-orm';
import { type DoubtFacts, type DoubtSettings, doubtsOf } from '#catalogue';
import { DAY_MS } from '#lib/time';
import { devices } from '../schema.ts';
import type { Store } from '../store.ts';
import { type Bindings, queryCounters, type Sharded } from './query-counters.ts';
import type { DoubtsAnswer, DoubtsQuestion } from './questions.ts';

/** The number of devices after which the object does other work. */
const DEVICES_PER_STEP = 2_000;

/** Ids begin with the time of their creation, and no device is acquired after it. A day more than any time zone is ahead of UTC. */
const firstIdOf = (day: string) =>
  `dev_${Math.max(0, Date.parse(day) - DAY_MS)
    .toString(16)
    .padStart(12, '0')}`;

const nothing = (): DoubtsAnswer => ({ installs: 0, doubted: 0, excluded: 0, rules: {} });

/** See `CounterApi.doubts`. */
export async function countDoubts(
  store: Store,
  { cohort, creativeIds, settings }: DoubtsQuestion,
): Promise<DoubtsAnswer> {
  const wanted = creativeIds && new Set(creativeIds);
  const answer = nothing();
  const facts = sql<string | null>`${devices.attribution} -> 'doubt_facts'`;
  for (let after = firstIdOf(cohort.from); ; ) {
    const page = store
      .select({
        id: devices.id,
        creativeId: sql<string>`coalesce(${devices.attribution} -> 'excluded' ->> 'creative_id', ${devices.creativeId})`,
        isExcluded: sql<number>`${devices.attribution} -> 'excluded' IS NOT NULL`,
        facts,
      })
      .from(devices)
      .where(
        and(
          gt(devices.id, after),
          between(devices.acquiredDay, cohort.from, cohort.to),
          sql`${facts} IS NOT NULL`,
        ),
      )
      .orderBy(asc(devices.id))
      .limit(DEVICES_PER_STEP)
      .all();
    for (const device of page) {
      if (wanted?.has(device.creativeId) ?? true)
        add(answer, JSON.parse(device.facts ?? '{}'), settings, device.isExcluded);
    }
    const last = page.at(-1);
    if (!last || page.length < DEVICES_PER_STEP) return answer;
    after = last.id;
    await scheduler.wait(0);
  }
}

function add(answer: DoubtsAnswer, facts: DoubtFacts, settings: DoubtSettings, isExcluded: number): void {
  const { doubts, notChecked } = doubtsOf(facts, settings);
  answer.installs += 1;
  answer.doubted += doubts.length > 0 ? 1 : 0;
  answer.excluded += isExcluded;
  const ruleOf = (id: string) => {
    answer.rules[id] ??= { doubted: 0, notChecked: 0 };
    return answer.rules[id];
  };
  for (const { rule } of doubts) ruleOf(rule).doubted += 1;
  for (const id of notChecked) ruleOf(id).notChecked += 1;
}

/** See `CounterApi.doubts`. A device is in one counter, so all answers add up. */
export async function sumDoubts(
  env: Bindings,
  application: Sharded,
  question: DoubtsQuestion,
): Promise<DoubtsAnswer> {
  const answers = await queryCounters<DoubtsAnswer>(
    env,
    application,
    async (counter) => await counter.doubts(question),
  );
  const sum = nothing();
  for (const { installs, doubted, excluded, rules } of answers) {
    sum.installs += installs;
    sum.doubted += doubted;
    sum.excluded += excluded;
    for (const [id, own] of Object.entries(rules)) {
      const known = sum.rules[id] ?? { doubted: 0, notChecked: 0 };
      sum.rules[id] = {
        doubted: known.doubted + own.doubted,
        notChecked: known.notChecked + own.notChecked,
      };
    }
  }
  return sum;
}
