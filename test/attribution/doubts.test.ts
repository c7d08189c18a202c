import { beforeAll, describe, expect, it } from 'vitest';
import { DOUBT_RULES, type DoubtFacts, type DoubtSettings, doubtsOf, type SourceDayFacts } from '#catalogue';
import { forgetCredentials } from '#http';
import { ANDROID_AGENT, ANDROID_METRICS, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

const SECOND = 1_000;
const CLICKED = Date.UTC(2026, 10, 20, 12);

/** An install that nobody doubts, and of which everything is known. */
const CLEAN: DoubtFacts = {
  clicked_at: CLICKED,
  first_opened_at: CLICKED + 90 * SECOND,
  play_clicked_at: CLICKED + SECOND,
  play_install_began_at: CLICKED + 8 * SECOND,
  earlier_installs: 0,
  address_clicks: 1,
  source_day: {
    ...{ day: '2026-11-19', clicks: 2_000, installs: 100, usual_conversion: 0.05 },
    ...{ median_seconds: 100_000, p95_seconds: 200_000 },
  },
};
const fired = (changes: Partial<DoubtFacts>, settings: DoubtSettings = {}) =>
  doubtsOf({ ...CLEAN, ...changes }, settings).doubts.map(({ rule, reason }) => `${rule}: ${reason}`);

describe('the rules', () => {
  it.each<[string, Partial<DoubtFacts>, string[]]>([
    ['nothing', {}, []],
    [
      'a click after the installation began',
      { play_install_began_at: CLICKED - 19 * SECOND },
      ['click_after_install_began: the installation began 20 s before the click'],
    ],
    [
      'our click after it, although Play saw an earlier one',
      { play_clicked_at: CLICKED - 100 * SECOND, play_install_began_at: CLICKED - 2 * SECOND },
      ['click_after_install_began: the installation began 2 s before the click'],
    ],
    [
      'a click in the second in which the installation began',
      { play_install_began_at: CLICKED + SECOND },
      [],
    ],
    [
      'a click after it, of which Play tells nothing',
      { play_clicked_at: null, play_install_began_at: CLICKED - SECOND },
      ['click_after_install_began: the installation began 1 s before the click'],
    ],
    [
      'an open after 9 s',
      { first_opened_at: CLICKED + 9_999 },
      ['fast_install: the app was first opened 9 s after the click, sooner than 10 s'],
    ],
    ['an open after 10 s', { first_opened_at: CLICKED + 10_000 }, []],
    [
      'a used click',
      { earlier_installs: 2 },
      ['repeated_click: 2 installs had already used this click. One click normally brings one install'],
    ],
    [
      '50 clicks of the address',
      { address_clicks: 50 },
      ['busy_address: 50 clicks came from the address of its click, 50 or more'],
    ],
    ['49 clicks of the address', { address_clicks: 49 }, []],
    [
      'another click in Play',
      { play_clicked_at: CLICKED - 301 * SECOND },
      ['different_click: Google Play saw the click 301 s from the credited one, more than 300 s'],
    ],
    ['a click 300 s away', { play_clicked_at: CLICKED - 300 * SECOND }, []],
    [
      'a creative with click flooding',
      {
        source_day: {
          ...{ day: '2026-11-19', clicks: 2_000, installs: 1, usual_conversion: 0.05 },
          ...{ median_seconds: 100_000, p95_seconds: 100_000 },
        },
      },
      [
        'click_flooding: its creative had 2000 clicks but 1 install on 2026-11-19, 1 % of the usual conversion, and they came evenly, 28 h after the click in the median',
      ],
    ],
  ])('doubt %s', (_, changes, expected) => {
    expect(fired(changes)).toEqual(expected);
  });

  it('say what they could not check, and do not call it clean', () => {
    const nothing: DoubtFacts = {
      ...{ clicked_at: null, first_opened_at: CLICKED, play_clicked_at: null, play_install_began_at: null },
      ...{ earlier_installs: null, address_clicks: null, source_day: null },
    };
    const all = DOUBT_RULES.map(({ id }) => id);
    expect(doubtsOf(nothing, {})).toEqual({ doubts: [], notChecked: all });
    const behind = doubtsOf({ ...CLEAN, first_opened_at: CLICKED - 1 }, {});
    expect(behind).toEqual({ doubts: [], notChecked: ['fast_install'] });
    // Explanations of earlier releases lack it.
    const { source_day, ...earlier } = CLEAN;
    expect(doubtsOf(earlier, {})).toEqual({ doubts: [], notChecked: ['click_flooding'] });
    const unopened = {
      ...source_day,
      installs: 0,
      median_seconds: null,
      p95_seconds: null,
    } as SourceDayFacts;
    expect(doubtsOf({ ...CLEAN, source_day: unopened }, {}).notChecked).toEqual(['click_flooding']);
  });

  it('have a higher version where they decide otherwise than before', () => {
    expect(DOUBT_RULES.map(({ id, version }) => [id, version])).toEqual([
      ['click_after_install_began', 2],
      ['fast_install', 1],
      ['repeated_click', 1],
      ['busy_address', 1],
      ['different_click', 1],
      ['click_flooding', 1],
    ]);
  });

  it('follow the settings', () => {
    const fast = { first_opened_at: CLICKED + 5 * SECOND };
    expect(fired(fast, { fast_install: { threshold: 5 } })).toEqual([]);
    expect(fired(fast, { fast_install: { action: 'allow' } })).toEqual([]);
    const { doubts } = doubtsOf({ ...CLEAN, ...fast }, { fast_install: { action: 'exclude', threshold: 6 } });
    expect(doubts).toMatchObject([{ rule: 'fast_install', version: 1, action: 'exclude', threshold: 6 }]);
  });
});

describe('an install', () => {
  const worker = startWorker();
  let tenant: Tenant;
  let creativeId: string;
  let path: string;

  beforeAll(async () => {
    tenant = await createTenant(STORES);
    ({ id: creativeId, path } = await createCreative(worker, tenant));
  });

  const change = (fraud_rules: unknown) =>
    worker.team(tenant, `/v1/applications/${tenant.application.id}`, {
      method: 'PATCH',
      body: { fraud_rules },
    });

  /** An install so many seconds after its click. */
  async function install(seconds: number) {
    const { clickId, publicId, messages } = await follow(worker, path, ANDROID_AGENT);
    await worker.deliver(messages);
    const clickedAt = Number.parseInt(clickId.slice(4, 16), 16);
    const created_at = new Date(clickedAt + seconds * SECOND).toISOString();
    const token = await fetchToken(worker, tenant, { created_at, data: { click_id: publicId } });
    const answer = await worker.team(tenant, `/v1/devices/${token}/attribution`);
    return answer.json<Record<string, unknown> & { device_id: string }>();
  }

  const today = () => new Date().toISOString().slice(0, 10);
  async function report<Answer>(name: string, query = '') {
    await settleAll(tenant.application.id);
    const from = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
    const period = `application_id=${tenant.application.id}&from=${from}&to=${today()}`;
    const answer = await worker.team(tenant, `/v1/reports/${name}?${period}${query}`);
    expect(answer.status).toBe(200);
    return answer.json<Answer>();
  }
  const totals = async (query = '') =>
    (await report<{ totals: Record<string, number> }>('performance', query)).totals;

  it('counts as before and as doubtful, unless a rule excludes it, and is asked again for a past period', async () => {
    // A device's clock may be some seconds ahead of ours; it is then set to ours, and the install is fast.
    const fast = await install(0);
    expect(fast).toMatchObject({
      method: 'click_id',
      creative_id: creativeId,
      doubts: [{ rule: 'fast_install', action: 'flag', threshold: 10 }],
      doubts_not_checked: ['click_after_install_began', 'different_click', 'click_flooding'],
    });
    expect(await totals(`&creative_id=${creativeId}`)).toMatchObject({
      installs: 1,
      doubted_installs: 1,
      net_installs: 0,
    });

    const changed = await change({ fast_install: { action: 'exclude' } });
    expect(changed.status).toBe(200);
    const { fraud_rules } = await changed.json<{ fraud_rules: Record<string, unknown> }>();
    expect(fraud_rules.fast_install).toEqual({ action: 'exclude', threshold: 10 });
    // An isolate remembers applications for a minute.
    forgetCredentials();
    const excluded = await install(0);
    expect(excluded).toMatchObject({
      method: 'organic',
      creative_id: null,
      click_id: null,
      excluded: { method: 'click_id', creative_id: creativeId },
    });
    expect(await totals()).toMatchObject({ installs: 2, doubted_installs: 2, net_installs: 0 });
    expect(await totals('&attribution=paid')).toMatchObject({ installs: 1 });

    const viewer = await signedIn(worker, tenant.team, 'viewer');
    const page = await pageOf(
      await viewer.get(`/debugger/device?app=${tenant.application.id}&device_id=${excluded.device_id}`),
    );
    expect(page.notices).toEqual([
      expect.stringMatching(
        /^Doubtful install: the app was first opened \d s after the click, sooner than 10 s\.$/,
      ),
    ]);
    expect(page.card('Attribution').texts('p')).toEqual(
      expect.arrayContaining([
        'It counts as organic because the application excludes such installs. Otherwise it would be of creative Creative.',
        'Not checked, because too little is known: Click after the installation began; Google Play saw another click; Creative with click flooding.',
      ]),
    );

    type Doubts = {
      data: { rule: string; doubted_installs: number; not_checked_installs: number }[];
      totals: unknown;
    };
    const before = await report<Doubts>('doubts');
    expect(before.totals).toEqual({
      ...{ attributed_installs: 2, doubted_installs: 2 },
      ...{ net_installs: 0, excluded_installs: 1 },
    });
    expect(before.data).toContainEqual({
      ...{ rule: 'fast_install', label: 'Opened right after the click', action: 'exclude', threshold: 10 },
      ...{ doubted_installs: 2, not_checked_installs: 0 },
    });
    const byCampaign = await report<{ data: unknown[]; totals: unknown }>('doubts', '&group_by=campaign');
    expect(byCampaign.totals).toEqual(before.totals);
    expect(byCampaign.data).toEqual([
      {
        ...{ campaign: expect.any(String), campaign_id: expect.stringMatching(/^cmp_/) },
        ...{ attributed_installs: 2, doubted_installs: 2, net_installs: 0, excluded_installs: 1 },
      },
    ]);
    const csv = await worker.team(
      tenant,
      `/v1/reports/doubts?application_id=${tenant.application.id}&from=${today()}&to=${today()}&group_by=os&format=csv`,
    );
    expect((await csv.text()).split('\n')[0]?.trim()).toBe(
      'os,attributed_installs,doubted_installs,net_installs,excluded_installs',
    );
    const doubtsPage = await pageOf(await viewer.get('/doubts?by=creative&period=7d'));
    expect(
      doubtsPage.cells('Doubtful installs by rule', 'Rule', 'Action', 'Doubtful', 'Not checked'),
    ).toEqual([
      ['Click after the installation began', 'Flag', '0', '2'],
      ['Opened right after the click', 'Count as organic', '2', '0'],
      ['Click of several installs', 'Flag', '0', '0'],
      ['Many clicks from one address', 'Flag', '0', '0'],
      ['Google Play saw another click', 'Flag', '0', '2'],
      ['Creative with click flooding', 'Flag', '0', '2'],
    ]);
    expect(doubtsPage.table('Attributed installs by creative')).toMatchObject({
      rows: [['Creative', '2', '2', '1', '0', '100%']],
      totals: ['Total', '2', '2', '1', '0', '100%'],
    });
    const filtered = (filter: string) =>
      report<{ totals: unknown }>('doubts', `&${filter}`).then(({ totals: found }) => found);
    expect(await filtered('attribution=organic')).toMatchObject({
      attributed_installs: 1,
      excluded_installs: 1,
    });
    expect(await filtered('attribution=paid')).toMatchObject({
      attributed_installs: 1,
      excluded_installs: 0,
    });
    expect(await filtered('os=android')).toMatchObject({ attributed_installs: 2 });
    expect(await filtered('os=ios')).toMatchObject({ attributed_installs: 0 });

    await change({ fast_install: { action: 'allow' } });
    const after = await report<Doubts>('doubts', `&creative_id=${creativeId}`);
    expect(after.totals).toMatchObject({ attributed_installs: 2, doubted_installs: 0, net_installs: 2 });
    const { totals: none } = await report<Doubts>('doubts', '&creative_id=crt_none');
    expect(none).toMatchObject({ attributed_installs: 0 });
    // What was counted when the installs came stays.
    expect(await totals()).toMatchObject({ installs: 2, doubted_installs: 2 });
  });

  it('counts the clicks of the address where it can look, and says so where it cannot', async () => {
    const own = await createTenant({ ...STORES, fraud_rules: { busy_address: { threshold: 3 } } });
    const { path: link } = await createCreative(worker, own);
    const click = async (address: string) => {
      const { publicId, messages } = await follow(worker, link, ANDROID_AGENT, address);
      await worker.deliver(messages);
      return publicId;
    };
    const attributed = async (data: object) => {
      const token = await fetchToken(worker, own, { data: { ...ANDROID_METRICS, ...data } });
      const answer = await worker.team(own, `/v1/devices/${token}/attribution`);
      const told = await answer.json<{
        method: string;
        doubts: { rule: string }[];
        doubts_not_checked: string[];
      }>();
      const busy = told.doubts.some(({ rule }) => rule === 'busy_address');
      return [told.method, told.doubts_not_checked.includes('busy_address') ? null : busy];
    };
    const farm = '203.0.113.80';
    const named = await click(farm);
    expect(await attributed({ click_id: named })).toEqual(['click_id', false]);
    for (let count = 1; count < 3; count++) await click(farm);
    // Whatever else is known of the device, and although no other click is read for it.
    for (const data of [
      {},
      { install_referrer: 'gclid=1' },
      { ip: '203.0.113.81' },
      { os_system: 'iOS 18' },
    ]) {
      expect(await attributed({ ...data, click_id: named })).toEqual(['click_id', true]);
    }
    expect(await attributed({ ip: farm })).toEqual(['probabilistic', true]);
    // A guess at an address that is not known to be the device's own: its clicks are not all read.
    const far = await createTenant({ ...STORES, fraud_rules: { busy_address: { threshold: 2 } } });
    const { path: farLink } = await createCreative(worker, far);
    for (let count = 0; count < 2; count++) {
      await worker.deliver((await follow(worker, farLink, ANDROID_AGENT, '203.0.113.90')).messages);
    }
    const token = await fetchToken(worker, far, { data: ANDROID_METRICS });
    const answer = await worker.team(far, `/v1/devices/${token}/attribution`);
    expect(await answer.json()).toMatchObject({
      method: 'probabilistic',
      doubts_not_checked: expect.arrayContaining(['busy_address']),
    });
  });

  it.each([
    [
      { fast_install: { threshold: 0 } },
      'fraud_rules.fast_install.threshold must be a whole number from 1 to 3600',
    ],
    [{ fast_install: { action: 'drop' } }, 'fraud_rules.fast_install.action must be allow, flag, exclude'],
    [{ fast_install: 3 }, 'fraud_rules.fast_install must be an object'],
    [
      { click_after_install_began: { threshold: 3 } },
      'fraud_rules.click_after_install_began.threshold has no threshold',
    ],
    [{ slow: {} }, /^fraud_rules has no rule slow: must be of click_after_install_began, /],
    [3, 'fraud_rules must be an object'],
  ])('takes no settings like %j', async (settings, message) => {
    const answer = await change(settings);
    expect(answer.status).toBe(400);
    const { message: told } = await answer.json<{ message: string }>();
    expect(told).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });

  it('has its rules in the settings, which name what is wrong', async () => {
    const admin = await signedIn(worker, tenant.team, 'admin');
    const address = `/settings/applications/${tenant.application.id}`;
    const fields = {
      ...{ name: 'Game', timezone: 'UTC', currency: 'usd', attribution_window_hours: '168' },
      ...{ probabilistic_window_hours: '24', view_window_hours: '24', store_fee_percent: '30' },
      'fraud_rules.busy_address.action': 'exclude',
    };
    const wrong = await admin.post(address, { ...fields, 'fraud_rules.busy_address.threshold': '1' });
    expect((await pageOf(wrong)).faults).toEqual({
      'fraud_rules.busy_address.threshold': 'Clicks from the address must be a whole number from 2 to 200',
    });
    const right = await admin.post(address, { ...fields, 'fraud_rules.busy_address.threshold': '30' });
    expect(right.status).toBe(303);
    const shown = await (await worker.team(tenant, `/v1/applications/${tenant.application.id}`)).json();
    expect(shown).toMatchObject({ fraud_rules: { busy_address: { action: 'exclude', threshold: 30 } } });
  });
});
