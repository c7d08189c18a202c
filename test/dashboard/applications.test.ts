import { describe, expect, it } from 'vitest';
import { Page, pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker();

it('deletes an application once its name is typed, and records it', async () => {
  const tenant = await createTenant();
  const admin = await signedIn(worker, tenant.team, 'admin');
  const { id, name } = tenant.application;
  const path = `/settings/applications/${id}`;
  expect((await pageOf(await admin.get(path))).cards).toContain('Delete application');

  for (const typed of ['', `${name}s`]) {
    const refused = await admin.post(`${path}/delete`, { delete_name: typed });
    expect(refused.status).toBe(400);
    expect((await pageOf(refused)).faults).toEqual({
      delete_name: 'Application name must be exactly Test game',
    });
  }
  expect((await admin.get(path)).status).toBe(200);

  const deleted = await admin.post(`${path}/delete`, { delete_name: ` ${name} ` });
  expect([deleted.status, deleted.headers.get('Location')]).toEqual([
    303,
    '/settings/applications?done=deleted_application',
  ]);
  const html = await (await admin.get('/settings/applications?done=deleted_application')).text();
  expect(html).not.toContain(id);
  const list = new Page(html);
  expect(list.notices).toEqual(['Deleted. Its data is removed in the background.']);
  expect(list.tables).toEqual([]);
  expect((await admin.get(path)).status).toBe(404);
  const log = await pageOf(await admin.get('/settings/audit'));
  expect(log.cells('Audit log', 'What', 'Details')).toEqual([['Deleted an application', `${name} (${id})`]]);
});

it('lets neither a viewer nor another team delete an application', async () => {
  const tenant = await createTenant();
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  const stranger = await signedIn(worker, (await createTenant()).team, 'owner');
  const path = `/settings/applications/${tenant.application.id}`;
  const fields = { delete_name: tenant.application.name };
  expect((await pageOf(await viewer.get(path))).cards).toEqual(['Settings']);
  expect((await viewer.post(`${path}/delete`, fields)).status).toBe(403);
  expect((await stranger.post(`${path}/delete`, fields)).status).toBe(404);
  expect((await viewer.get(path)).status).toBe(200);
});

const REQUIRED = {
  name: 'Test game',
  timezone: 'UTC',
  currency: 'USD',
  data_collection: 'on',
  attribution_window_hours: '168',
  probabilistic_window_hours: '24',
  view_window_hours: '24',
};

describe('the settings', () => {
  const sections = (page: Page) =>
    page.all('details.section').map((section) => {
      const [title = '', says = ''] = new Page(section).texts('summary > *');
      return [title, section.hasAttribute('open'), says];
    });
  const open = async () => {
    const tenant = await createTenant();
    const admin = await signedIn(worker, tenant.team, 'admin');
    return { tenant, admin, path: `/settings/applications/${tenant.application.id}` };
  };

  it('fold into sections that say what they contain, the first of them open', async () => {
    const { tenant, admin, path } = await open();
    expect(sections(await pageOf(await admin.get(path)))).toEqual([
      ['General', true, 'UTC, USD'],
      ['Tracking link destinations', false, 'Not set'],
      ['Links that open the app', false, 'Not set'],
      ['Attribution', false, 'Clicks 7 d, probabilistic 1 d, view-through 1 d'],
      ['Revenue', false, 'Store fee 0%'],
      ['Doubtful installs', false, 'Flag: 6 rules'],
      ['Privacy and retention', false, 'Collects data, raw events 400 days'],
    ]);
    const changes = {
      ...REQUIRED,
      timezone: 'Asia/Tokyo',
      data_collection: 'off',
      android_store_url: 'https://play.google.com/store/apps/details?id=a',
      fallback_url: 'https://example.com',
      apple_bundle_id: 'com.example.game',
      view_window_hours: '0',
      probabilistic_window_hours: '30',
      store_fee_percent: '15',
      'fraud_rules.busy_address.action': 'exclude',
      'fraud_rules.busy_address.threshold': '50',
      'fraud_rules.different_click.action': 'allow',
      'fraud_rules.different_click.threshold': '50',
    };
    expect((await admin.post(path, changes)).status).toBe(303);
    const viewer = await signedIn(worker, tenant.team, 'viewer');
    for (const person of [admin, viewer]) {
      expect(sections(await pageOf(await person.get(path))).map(([, , says]) => says)).toEqual([
        'Asia/Tokyo, USD',
        'Google Play, fallback',
        'iOS',
        'Clicks 7 d, probabilistic 1 d 6 h, view-through off',
        'Store fee 15%',
        'Do not check: 1 rule, Flag: 4 rules, Count as organic: 1 rule',
        'Collects no data, raw events 400 days',
      ]);
    }
  });

  it('open where something is wrong, and keep all that was typed', async () => {
    const { admin, path } = await open();
    const typed: Record<string, string> = {
      ...REQUIRED,
      name: ' New name ',
      data_collection: 'off',
      ios_store_url: 'http://plain.example',
      store_fee_percent: 'much',
      'fraud_rules.fast_install.action': 'exclude',
      'fraud_rules.fast_install.threshold': '99999',
      meta_referrer_key: 'ab',
      allowed_origins: 'https://a.example https://b.example',
    };
    const refused = await admin.post(path, typed);
    expect(refused.status).toBe(400);
    const page = await pageOf(refused);
    expect(
      sections(page)
        .filter(([, isOpen]) => isOpen)
        .map(([title]) => title),
    ).toEqual(['General', 'Tracking link destinations', 'Attribution', 'Revenue', 'Doubtful installs']);
    expect(page.faults).toEqual({
      ios_store_url: 'App Store URL must be an https URL',
      meta_referrer_key: 'Meta install referrer decryption key must be 64 hexadecimal digits',
      store_fee_percent: 'The store fee must be a number from 0 to 99, such as 15, with at most two decimals',
      'fraud_rules.fast_install.threshold':
        'Seconds from the click to the first open must be a whole number from 1 to 3600',
    });
    for (const [name, value] of Object.entries(typed))
      expect([name, page.value(name)]).toEqual([name, value]);
  });

  it('keep what was typed if another application has the App Store app', async () => {
    const { admin, path } = await open();
    const id = Math.floor(Math.random() * 1e9);
    const fields = { ...REQUIRED, ios_store_url: `https://apps.apple.com/app/id${id}` };
    expect((await admin.post(path, fields)).status).toBe(303);
    const other = await open();
    const refused = await other.admin.post(other.path, { ...fields, fallback_url: 'https://example.com' });
    expect(refused.status).toBe(400);
    const page = await pageOf(refused);
    expect(page.faults).toEqual({
      ios_store_url: 'App Store URL belongs to another application of this deployment',
    });
    expect(page.value('fallback_url')).toBe('https://example.com');
  });
});

it('saves the app’s identities and Meta’s key, which it never shows', async () => {
  const tenant = await createTenant();
  const admin = await signedIn(worker, tenant.team, 'admin');
  const path = `/settings/applications/${tenant.application.id}`;
  const print = Array.from({ length: 32 }, () => 'AB').join(':');
  const fields = {
    ...REQUIRED,
    apple_app_id_prefix: 'ABCDE12345',
    apple_bundle_id: 'com.example.game',
    android_fingerprints: `${print.toLowerCase()}, ${print}`,
  };
  const key = 'ab'.repeat(32);
  const refused = await admin.post(path, { ...fields, meta_referrer_key: 'abc', apple_bundle_id: 'a b' });
  expect((await pageOf(refused)).faults).toEqual({
    apple_bundle_id: 'iOS bundle ID must be a bundle id, such as com.example.game',
    meta_referrer_key: 'Meta install referrer decryption key must be 64 hexadecimal digits',
  });
  const stored = async () =>
    (await worker.team(tenant, `/v1/applications/${tenant.application.id}`)).json<Record<string, unknown>>();
  for (const changes of [{ meta_referrer_key: key }, {}]) {
    expect((await admin.post(path, { ...fields, ...changes })).status).toBe(303);
    expect(await stored()).toMatchObject({
      apple_app_id_prefix: 'ABCDE12345',
      apple_bundle_id: 'com.example.game',
      android_fingerprints: [print, print],
      meta_referrer_key_set: true,
      apple_ads: false,
      create_from_networks: false,
    });
  }
  for (const name of ['apple_ads', 'create_from_networks']) {
    for (const choice of ['on', undefined, 'off']) {
      const changes = choice === undefined ? {} : { [name]: choice };
      expect((await admin.post(path, { ...fields, ...changes })).status).toBe(303);
      // A form without the field changes nothing.
      expect(await stored()).toMatchObject({ [name]: choice !== 'off' });
      expect((await pageOf(await admin.get(path))).value(name)).toBe(choice ?? 'on');
    }
  }
  const page = await (await admin.get(path)).text();
  expect(page).not.toContain(key);
  expect(page).toContain('Set. From the app’s settings at Meta');
});
