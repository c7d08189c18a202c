import { describe, expect, it } from 'vitest';
import { judgeSourceDays, type LoggedEvent } from '#catalogue';
import { newId } from '#lib/ids';
import { startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Click flooding shows in a day of a creative: many clicks, few installs, late and evenly after their click.

const HOUR = 3_600;
const delay = (seconds: number, installs = 1) => ({ seconds, installs });
const good = (clicks = 1_000) => ({ clicks, delays: [delay(60, 80), delay(20 * HOUR, 20)] });

describe('a day of a creative', () => {
  const flooded = (day: { clicks: number; delays: { seconds: number; installs: number }[] }) =>
    judgeSourceDays([good(), good(), good(), day]).judged.at(-1)?.isFlooded;
  // 20 of 1,000 is a fifth of the median of 10 %.
  const EVEN = [delay(24 * HOUR, 10), delay(40 * HOUR, 9), delay(72 * HOUR, 1)];

  it.each<[string, Parameters<typeof flooded>[0], boolean | undefined]>([
    ['few, late and even installs', { clicks: 1_000, delays: EVEN }, true],
    ['one install too many', { clicks: 1_000, delays: [...EVEN, delay(30 * HOUR)] }, false],
    [
      'installs a second too early',
      { clicks: 1_000, delays: [delay(24 * HOUR - 1, 10), ...EVEN.slice(1)] },
      false,
    ],
    ['uneven installs', { clicks: 1_000, delays: [delay(24 * HOUR, 10), delay(73 * HOUR, 10)] }, false],
    ['no installs', { clicks: 100_000, delays: [] }, false],
    ['too few clicks', { clicks: 999, delays: [delay(24 * HOUR)] }, false],
  ])('with %s', (_, day, expected) => {
    const { judged } = judgeSourceDays([good(), good(), good(), day]);
    expect(judged).toHaveLength(day.clicks < 1_000 ? 3 : 4);
    expect(flooded(day)).toBe(expected);
  });

  it('is not judged where there is nothing to compare with', () => {
    const day = { clicks: 1_000, delays: EVEN };
    const { medianConversion, judged } = judgeSourceDays([good(), good(999), day]);
    expect(medianConversion).toBeNull();
    expect(judged.map(({ isFlooded }) => isFlooded)).toEqual([false, false]);
  });
});

it('is in the report of doubtful installs and on its page', async () => {
  const worker = startWorker();
  const tenant = await createTenant();
  const { id: applicationId } = tenant.application;
  const names = ['Cat', 'Dog', 'Eel', 'Flood'];
  const creatives = await Promise.all(names.map((creative) => createCreative(worker, tenant, { creative })));
  const counter = startCounter(applicationId);
  const day = '2026-03-01';
  const noon = Date.parse(`${day}T12:00:00Z`);
  for (const [index, { id: creativeId }] of creatives.entries()) {
    const isFlood = names[index] === 'Flood';
    const clicks = Array.from(
      { length: 1_000 },
      (): LoggedEvent => ({
        ...{ type: 'click', id: newId('evt'), application_id: applicationId, creative_id: creativeId },
        ...{ day, occurred_at: noon, received_at: noon },
      }),
    );
    await counter.append(clicks);
    for (let install = 0; install < (isFlood ? 2 : 10); install++) {
      const seconds = isFlood ? 48 * HOUR : 60;
      const doubt_facts = { clicked_at: noon - seconds * 1_000, first_opened_at: noon };
      await counter.createDevice({ creativeId, attribution: JSON.stringify({ doubt_facts }) });
    }
  }
  await settleAll(applicationId);
  const path = `/v1/reports/doubts?application_id=${applicationId}&from=${day}&to=${day}`;
  const found = {
    ...{ day, creative: 'Flood', creative_id: creatives[3]?.id, clicks: 1_000, installs: 2 },
    ...{ conversion: 0.002, median_seconds: 173_000, p95_seconds: 173_000 },
  };
  const report = await (await worker.team(tenant, path)).json();
  expect(report).toMatchObject({ flooded: [found], judged_source_days: 4, median_conversion: 0.01 });
  const csv = await worker.team(tenant, `${path}&format=csv`);
  expect(JSON.parse(csv.headers.get('X-Flooded') ?? '')).toEqual([found]);
  const filtered = await (await worker.team(tenant, `${path}&creative_id=${creatives[0]?.id}`)).json();
  expect(filtered).toMatchObject({ flooded: [], judged_source_days: 1, median_conversion: null });

  const viewer = await signedIn(worker, tenant.team, 'viewer');
  const page = await pageOf(await viewer.get(`/doubts?from=${day}&to=${day}&period=custom`));
  expect(page.table('Days of creatives that look like click flooding').rows).toEqual([
    ['Sun 1 Mar', 'Flood', '1,000', '2', '0.2%', '48 h'],
  ]);
});
