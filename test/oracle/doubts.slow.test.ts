import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { applications, database } from '#db';
import { createCreative } from '../helpers/creatives.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';
import type { Sent } from './history.ts';
import { isChecked, playTimesOf } from './play-times.ts';
import { askReport, DOUBTING_RULE, startOracle } from './setup.ts';

// Doubtful installs, counted a second time: by the definition of each rule, from what was sent.

type Counts = Record<
  'attributed_installs' | 'doubted_installs' | 'net_installs' | 'excluded_installs',
  number
>;
type RuleRow = { rule: string; action: string; doubted_installs: number; not_checked_installs: number };

describe.each(['flag', 'exclude'] as const)('a history whose application has the action %s', (doubts) => {
  const worker = startWorker();
  let tenant: Tenant;
  let installs: Sent[];

  beforeAll(async () => {
    const made = await startOracle(worker, {
      zone: 'Europe/Berlin',
      currency: 'eur',
      seed: 21,
      shards: 2,
      doubts,
    });
    tenant = made.tenant;
    // Of the devices that a creative brought, excluded or not: every fourth comes without one.
    installs = made.sent.filter(({ type, device }) => type === 'install' && device % 4 !== 0);
  });

  const countsOf = (own: readonly Sent[]): Counts => {
    const doubted = own.filter((install) => install.doubted).length;
    return {
      attributed_installs: own.length,
      doubted_installs: doubted,
      net_installs: own.length - doubted,
      excluded_installs: doubts === 'exclude' ? doubted : 0,
    };
  };

  it('has them in the report by rule, with what was not checked', async () => {
    const { data, totals } = await askReport(worker, tenant, 'doubts', '');
    const expected = countsOf(installs);
    expect(expected.doubted_installs).toBeGreaterThan(3);
    expect(totals).toEqual(expected);
    const row = (data as unknown as RuleRow[]).find(({ rule }) => rule === DOUBTING_RULE);
    expect(row).toMatchObject({
      action: doubts,
      doubted_installs: expected.doubted_installs,
      not_checked_installs: installs.filter(({ device }) => !isChecked(playTimesOf(device))).length,
    });
  });

  it.each(['country', 'os', 'network'] as const)('has them by %s', async (group) => {
    const { data } = await askReport(worker, tenant, 'doubts', `group_by=${group}`);
    const expected = [...Map.groupBy(installs, (install) => install[group] || null)].map(([value, own]) => ({
      [group]: value,
      ...countsOf(own),
    }));
    expect(data).toHaveLength(expected.length);
    expect(data).toEqual(expect.arrayContaining(expected));
  });
});

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const AGENT =
  'Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36';
const RULES = [
  'click_after_install_began',
  'fast_install',
  'repeated_click',
  'busy_address',
  'different_click',
  'click_flooding',
] as const;
type Rule = (typeof RULES)[number];
type Action = 'allow' | 'flag' | 'exclude';

type Click = { creative: number; address: number; minutesAgo: number };
type Install = {
  click: number;
  opened: number;
  play: { clicked: number; began: number } | null;
  /** Whether the referrer proves Google, so that no click is guessed. */
  google: boolean;
};
/** Of a creative, the day before. */
type Before = { clicks: number; installs: number; median: number; p95: number };
type Drawn = {
  /** By creative; null if it had fewer than 1,000 clicks. */
  before: (Before | null)[];
  clicks: Click[];
  installs: Install[];
  actions: Record<Rule, Action>;
  thresholds: { fast: number; busy: number; different: number; flooding: number };
};

const action = fc.constantFrom<Action>('flag', 'flag', 'exclude', 'allow');
/** The median conversion of the days before. */
const USUAL = 0.05;
const before = fc.record<Before>({
  clicks: fc.constantFrom(1_000, 4_000),
  installs: fc.constantFrom(1, 5, 20, 40),
  median: fc.constantFrom(86_399, 86_400, 100_000),
  p95: fc.constantFrom(200_000, 300_000, 300_001),
});
const drawn = fc.record<Drawn>({
  before: fc.array(fc.option(before), { minLength: 2, maxLength: 2 }),
  clicks: fc.array(
    fc.record({
      creative: fc.nat(1),
      address: fc.nat(1),
      // The probabilistic window, of one hour here, ends between them.
      minutesAgo: fc.oneof(fc.integer({ min: 5, max: 50 }), fc.integer({ min: 70, max: 90 })),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  installs: fc.array(
    fc.record({
      click: fc.nat(),
      // In seconds after the click, as are the times of Play.
      opened: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 13, max: 200 })),
      play: fc.option(
        fc.record({ clicked: fc.integer({ min: -400, max: 40 }), began: fc.integer({ min: -100, max: 60 }) }),
      ),
      google: fc.boolean(),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  actions: fc.record<Record<Rule, Action>>({
    click_after_install_began: action,
    fast_install: action,
    repeated_click: action,
    busy_address: action,
    different_click: action,
    click_flooding: action,
  }),
  thresholds: fc.record({
    fast: fc.integer({ min: 1, max: 20 }),
    busy: fc.integer({ min: 2, max: 4 }),
    different: fc.integer({ min: 1, max: 300 }),
    flooding: fc.constantFrom(10, 20, 80),
  }),
});

type Verdict = { rules: Rule[]; notChecked: Rule[]; isExcluded: boolean };

/** What networks.md's rules say of each install, in the order in which they come. `clicks` are in whole seconds. */
function judge({ clicks, installs, actions, thresholds, before }: Drawn): Verdict[] {
  const asked = RULES.filter((rule) => actions[rule] !== 'allow');
  const used = new Map<number, number>();
  return installs.map(({ click: any, opened, play }) => {
    const index = any % clicks.length;
    const click = clicks[index];
    if (!click) throw new RangeError('there is a click');
    // The address of a click is forgotten with the window.
    const ofAddress = clicks.filter((one) => one.address === click.address && one.minutesAgo < 60).length;
    const day = before[click.creative] ?? null;
    const fires: Record<Rule, boolean | null> = {
      // Our click, at 0, or the one that Play saw.
      click_after_install_began: play && (play.began < 0 || play.began < play.clicked),
      fast_install: opened < thresholds.fast,
      repeated_click: (used.get(index) ?? 0) > 0,
      busy_address: click.minutesAgo < 60 ? ofAddress >= thresholds.busy : null,
      different_click: play && Math.abs(play.clicked) > thresholds.different,
      // Conversion ≤ a share of the median, p50 ≥ a day, p95 / p50 ≤ 3.
      click_flooding:
        day &&
        day.installs / day.clicks / USUAL <= thresholds.flooding / 100 &&
        day.median >= 86_400 &&
        day.p95 / day.median <= 3,
    };
    const rules = asked.filter((rule) => fires[rule] === true);
    const isExcluded = rules.some((rule) => actions[rule] === 'exclude');
    // An excluded install takes no click.
    if (!isExcluded) used.set(index, (used.get(index) ?? 0) + 1);
    return { rules, notChecked: asked.filter((rule) => fires[rule] === null), isExcluded };
  });
}

describe('clicks of networks', () => {
  const worker = startWorker();

  it('leads to installs that are doubted, flagged and excluded as a second count says', () =>
    fc.assert(
      fc.asyncProperty(drawn, async (own) => {
        const { clicks, installs, actions, thresholds, before } = own;
        const now = Math.floor(Date.now() / SECOND) * SECOND;
        const tenant = await createTenant({
          probabilistic_window_hours: 1,
          fraud_rules: {
            click_after_install_began: { action: actions.click_after_install_began },
            fast_install: { action: actions.fast_install, threshold: thresholds.fast },
            repeated_click: { action: actions.repeated_click },
            busy_address: { action: actions.busy_address, threshold: thresholds.busy },
            different_click: { action: actions.different_click, threshold: thresholds.different },
            click_flooding: { action: actions.click_flooding, threshold: thresholds.flooding },
          },
        });
        const creatives = await Promise.all(
          ['Cat', 'Dog'].map((creative) => createCreative(worker, tenant, { creative })),
        );
        const day = new Date(now - 24 * HOUR).toISOString().slice(0, 10);
        const judged = before.flatMap((one, index) =>
          one
            ? [
                [
                  creatives[index]?.id,
                  {
                    ...{ day, clicks: one.clicks, installs: one.installs, usual_conversion: USUAL },
                    ...{ median_seconds: one.median, p95_seconds: one.p95 },
                  },
                ],
              ]
            : [],
        );
        await database(env.DB)
          .update(applications)
          .set({ judgedSources: { day, creatives: Object.fromEntries(judged) } })
          .where(eq(applications.id, tenant.application.id));
        const timeOf = ({ minutesAgo }: Click, index: number) =>
          now - minutesAgo * 60 * SECOND - index * SECOND;
        const ids: string[] = [];
        for (const [index, click] of clicks.entries()) {
          const links = await worker.team(tenant, `/v1/creatives/${creatives[click.creative]?.id}/links`);
          const { server_links } = await links.json<{ server_links: { click: string } }>();
          const { pathname, search } = new URL(server_links.click);
          const query = new URLSearchParams({
            ...{ ip: `203.0.113.${click.address + 1}`, ua: AGENT, time: String(timeOf(click, index)) },
          });
          const answer = await worker.request(`${pathname}${search}&${query}`);
          ids.push((await answer.json<{ id: string }>()).id);
        }
        await worker.deliver(worker.queue.take());
        const verdicts = judge(own);
        for (const [number, { click, opened, play, google }] of installs.entries()) {
          const index = click % clicks.length;
          const clickedAt = timeOf(clicks[index] ?? { creative: 0, address: 0, minutesAgo: 0 }, index);
          const second = clickedAt / SECOND;
          const token = await fetchToken(worker, tenant, {
            created_at: new Date(clickedAt + opened * SECOND).toISOString(),
            data: {
              click_id: ids[index],
              ...(google && { install_referrer: 'gclid=Cj0K' }),
              ...(play && {
                referrer_click_timestamp_server_seconds: second + play.clicked,
                install_begin_timestamp_server_seconds: second + play.began,
              }),
            },
          });
          const answer = await worker.team(tenant, `/v1/devices/${token}/attribution`);
          const told = await answer.json<{
            creative_id: string | null;
            doubts: { rule: string }[];
            doubts_not_checked: string[];
          }>();
          const verdict = verdicts[number];
          expect(told.doubts.map(({ rule }) => rule)).toEqual(verdict?.rules);
          expect(told.doubts_not_checked).toEqual(verdict?.notChecked);
          expect(told.creative_id === null).toBe(verdict?.isExcluded);
        }
        await settleAll(tenant.application.id);
        const [from, to] = [1, 0].map((days) => new Date(now - days * 24 * HOUR).toISOString().slice(0, 10));
        const period = { from: from ?? '', to: to ?? '' };
        const of = (is: (verdict: Verdict) => boolean) => verdicts.filter(is).length;
        const doubted = of(({ rules }) => rules.length > 0);
        const excluded = of(({ isExcluded }) => isExcluded);
        const performance = await askReport(worker, tenant, 'performance', 'group_by=day', period);
        expect(performance.totals).toMatchObject({
          ...{
            installs: installs.length,
            doubted_installs: doubted,
            net_installs: installs.length - doubted,
          },
        });
        const paid = await askReport(worker, tenant, 'performance', 'group_by=day&attribution=paid', period);
        expect(paid.totals).toMatchObject({
          installs: installs.length - excluded,
          doubted_installs: of(({ rules, isExcluded }) => rules.length > 0 && !isExcluded),
        });
        const { data, totals } = await askReport(worker, tenant, 'doubts', '', period);
        expect(totals).toEqual({
          ...{ attributed_installs: installs.length, doubted_installs: doubted },
          ...{ net_installs: installs.length - doubted, excluded_installs: excluded },
        });
        for (const { rule, doubted_installs, not_checked_installs } of data as unknown as RuleRow[]) {
          expect([rule, doubted_installs, not_checked_installs]).toEqual([
            rule,
            of(({ rules }) => rules.some((one) => one === rule)),
            of(({ notChecked }) => notChecked.some((one) => one === rule)),
          ]);
        }
      }),
      { numRuns: 20 },
    ));
});
