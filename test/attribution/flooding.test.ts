import { env } from 'cloudflare:workers';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isFlooded, type LoggedEvent, measureSourceDays } from '#catalogue';
import { forgetCredentials } from '#http';
import { newId } from '#lib/ids';
import { DAY_MS } from '#lib/time';
import { judgeSources } from '#reports';
import { ANDROID_AGENT, follow, STORES } from '../helpers/clicks.ts';
import { startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Click flooding shows in a day of a creative: many clicks, few installs, late and evenly after their click.

const HOUR = 3_600;
const delay = (seconds: number, installs = 1) => ({ seconds, installs });
const day = (delays: { seconds: number; installs: number }[], clicks = 1_000) => ({
  ...{ day: '2026-03-01', clicks, delays },
});
const good = () => day([delay(60, 80), delay(20 * HOUR, 20)]);

describe('a day of a creative', () => {
  // 20 of 1,000 is a fifth of the median of 10 %.
  const EVEN = [delay(24 * HOUR, 10), delay(40 * HOUR, 9), delay(72 * HOUR, 1)];

  it.each<[string, ReturnType<typeof day>, boolean, threshold?: number]>([
    ['few, late and even installs', day(EVEN), true],
    ['one install too many', day([...EVEN, delay(30 * HOUR)]), false],
    ['one install more, for a threshold of 21 %', day([...EVEN, delay(30 * HOUR)]), true, 21],
    ['few installs, for a threshold of 19 %', day(EVEN), false, 19],
    ['installs a second too early', day([delay(24 * HOUR - 1, 10), ...EVEN.slice(1)]), false],
    ['uneven installs', day([delay(24 * HOUR, 10), delay(73 * HOUR, 10)]), false],
    ['no installs', day([], 100_000), false],
  ])('with %s', (_, own, expected, threshold = 20) => {
    const facts = measureSourceDays([good(), good(), good(), own])?.at(-1);
    expect(facts && isFlooded(facts, threshold)).toBe(expected);
  });

  it('is not judged where there is nothing to compare with', () => {
    expect(measureSourceDays([good(), day(EVEN)])).toBeNull();
  });
});

const DAY = '2026-03-01';
const NOON = Date.parse(`${DAY}T12:00:00Z`);

/** An application whose creatives have 1,000 clicks each on the day, and `Flood` hardly any installs, two days after their click. */
async function createFlooded(worker: ReturnType<typeof startWorker>) {
  const tenant = await createTenant({ ...STORES, fraud_rules: { fast_install: { action: 'allow' } } });
  const { id: applicationId } = tenant.application;
  const names = ['Cat', 'Dog', 'Eel', 'Flood'];
  const made = await Promise.all(names.map((creative) => createCreative(worker, tenant, { creative })));
  const counter = startCounter(applicationId);
  const creatives: Record<string, (typeof made)[number]> = {};
  for (const [index, creative] of made.entries()) {
    const name = names[index] ?? '';
    creatives[name] = creative;
    const clicks = Array.from(
      { length: 1_000 },
      (): LoggedEvent => ({
        ...{ type: 'click', id: newId('evt'), application_id: applicationId, creative_id: creative.id },
        ...{ day: DAY, occurred_at: NOON, received_at: NOON },
      }),
    );
    await counter.append(clicks);
    const isFlood = name === 'Flood';
    for (let install = 0; install < (isFlood ? 2 : 10); install++) {
      const seconds = isFlood ? 48 * HOUR : 60;
      const doubt_facts = { clicked_at: NOON - seconds * 1_000, first_opened_at: NOON };
      await counter.createDevice({ creativeId: creative.id, attribution: JSON.stringify({ doubt_facts }) });
    }
  }
  await settleAll(applicationId);
  return { tenant, applicationId, creatives };
}

describe('the report of doubtful installs', () => {
  const worker = startWorker();
  let flooded: Awaited<ReturnType<typeof createFlooded>>;
  beforeAll(async () => {
    flooded = await createFlooded(worker);
  });

  it('has the day, and doubts its installs', async () => {
    const { tenant, applicationId, creatives } = flooded;
    const path = `/v1/reports/doubts?application_id=${applicationId}&from=${DAY}&to=${DAY}`;
    const found = {
      ...{ day: DAY, creative: 'Flood', creative_id: creatives.Flood?.id, clicks: 1_000, installs: 2 },
      ...{ conversion: 0.002, median_seconds: 173_000, p95_seconds: 173_000 },
    };
    const rule = { rule: 'click_flooding', action: 'flag', threshold: 20 };
    const report = await (await worker.team(tenant, path)).json();
    expect(report).toMatchObject({
      ...{ flooded: [found], judged_source_days: 4, median_conversion: 0.01 },
      data: expect.arrayContaining([
        expect.objectContaining({ ...rule, doubted_installs: 2, not_checked_installs: 0 }),
      ]),
      totals: { attributed_installs: 32, doubted_installs: 2 },
    });
    const csv = await worker.team(tenant, `${path}&format=csv`);
    expect(JSON.parse(csv.headers.get('X-Flooded') ?? '')).toEqual([found]);
    // A creative is compared with all, whatever the report is about.
    const filtered = await (await worker.team(tenant, `${path}&creative_id=${creatives.Cat?.id}`)).json();
    expect(filtered).toMatchObject({
      ...{ flooded: [], judged_source_days: 4, median_conversion: 0.01 },
      totals: { attributed_installs: 10, doubted_installs: 0 },
    });

    const viewer = await signedIn(worker, tenant.team, 'viewer');
    const page = await pageOf(await viewer.get(`/doubts?from=${DAY}&to=${DAY}&period=custom`));
    expect(page.table('Days of creatives that look like click flooding').rows).toEqual([
      ['Sun 1 Mar', 'Flood', '1,000', '2', '0.2%', '48 h'],
    ]);
  });

  it('follows the threshold of now', async () => {
    const { tenant, applicationId } = flooded;
    const fraud_rules = { click_flooding: { threshold: 19 } };
    const body = { fraud_rules };
    await worker.team(tenant, `/v1/applications/${applicationId}`, { method: 'PATCH', body });
    const path = `/v1/reports/doubts?application_id=${applicationId}&from=${DAY}&to=${DAY}`;
    const report = await (await worker.team(tenant, path)).json();
    expect(report).toMatchObject({ flooded: [], totals: { attributed_installs: 32, doubted_installs: 0 } });
  });
});

describe('an install after a day of flooding', () => {
  const worker = startWorker();
  let flooded: Awaited<ReturnType<typeof createFlooded>>;
  beforeAll(async () => {
    flooded = await createFlooded(worker);
  });

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOON + DAY_MS });
    forgetCredentials();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** An install of today by a click two minutes ago. */
  async function install(creative: 'Cat' | 'Flood') {
    const { path = '' } = flooded.creatives[creative] ?? {};
    const { publicId, messages } = await follow(worker, path, ANDROID_AGENT);
    await worker.deliver(messages);
    const created_at = new Date(Date.now() + 120_000).toISOString();
    const token = await fetchToken(worker, flooded.tenant, { created_at, data: { click_id: publicId } });
    const answer = await worker.team(flooded.tenant, `/v1/devices/${token}/attribution`);
    return answer.json<{ device_id: string; creative_id: string | null; doubts_not_checked: string[] }>();
  }
  const notChecked = expect.arrayContaining(['click_flooding']);

  it('is not checked before the day is judged', async () => {
    expect(await install('Flood')).toMatchObject({ doubts: [], doubts_not_checked: notChecked });
  });

  it('is doubted by the day before of its creative, in words on its page', async () => {
    await judgeSources(env, Date.now());
    const doubted = await install('Flood');
    expect(doubted).toMatchObject({
      creative_id: flooded.creatives.Flood?.id,
      doubts: [{ rule: 'click_flooding', action: 'flag', threshold: 20 }],
    });
    const clean = await install('Cat');
    expect(clean).toMatchObject({ doubts: [] });
    expect(clean.doubts_not_checked).not.toContain('click_flooding');
    const viewer = await signedIn(worker, flooded.tenant.team, 'viewer');
    const page = await pageOf(
      await viewer.get(`/debugger/device?app=${flooded.applicationId}&device_id=${doubted.device_id}`),
    );
    expect(page.notices).toEqual([
      'Doubtful install: its creative had 1000 clicks but 2 installs on 2026-03-01, 20 % of the usual conversion, and they came evenly, 48 h after the click in the median.',
    ]);
    // Until its own day is known, the report asks the rule what was known when the install came.
    const period = 'from=2026-03-02&to=2026-03-02';
    await settleAll(flooded.applicationId);
    const path = `/v1/reports/doubts?application_id=${flooded.applicationId}&${period}`;
    expect(await (await worker.team(flooded.tenant, path)).json()).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ rule: 'click_flooding', doubted_installs: 1, not_checked_installs: 1 }),
      ]),
    });
  });

  it('is organic where the application excludes it, and is judged once per day', async () => {
    const { tenant, applicationId } = flooded;
    const body = { fraud_rules: { click_flooding: { action: 'exclude' } } };
    await worker.team(tenant, `/v1/applications/${applicationId}`, { method: 'PATCH', body });
    forgetCredentials();
    const read = () =>
      env.DB.prepare('SELECT judged_sources FROM applications WHERE id = ?')
        .bind(applicationId)
        .first<string>('judged_sources');
    const before = await read();
    await judgeSources(env, Date.now());
    expect(await read()).toBe(before);
    expect(await install('Flood')).toMatchObject({ creative_id: null, excluded: expect.anything() });
    // Days later, it tells nothing any more.
    vi.setSystemTime(NOON + 4 * DAY_MS);
    forgetCredentials();
    expect(await install('Flood')).toMatchObject({ doubts: [], doubts_not_checked: notChecked });
  });
});
