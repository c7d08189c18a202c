import { expect, it } from 'vitest';
import { IMPRESSION_PRESETS } from '#networks';
import { Page, pageOf } from '../helpers/page.ts';
import { signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// The template of impression callbacks in the settings of an application: all of it works without scripts.

const worker = startWorker();

async function open() {
  const tenant = await createTenant();
  const admin = await signedIn(worker, tenant.team, 'admin');
  const path = `/settings/applications/${tenant.application.id}`;
  const api = `/v1/applications/${tenant.application.id}`;
  const card = async () => (await pageOf(await admin.get(path))).card('Impression callbacks');
  return {
    ...{ tenant, admin, path, api, card },
    post: (fields: Record<string, string>) => admin.post(`${path}/impression-template`, fields),
    stored: async () =>
      (await (await worker.team(tenant, api)).json<{ impression_template: unknown }>()).impression_template,
    inUse: async () =>
      (await card())
        .cells('Templates of impression callbacks', 'Template', 'In use')
        .flatMap(([label, used]) => (used === 'Yes' ? [label] : [])),
    addresses: async () => (await card()).texts('code').map((text) => text.split('/impression/')[1]),
  };
}

const field = (name: string) => `impression_template.${name}`;
const OWN = {
  template: 'own',
  ...{ [field('id')]: 'event', [field('amount')]: ' revenue ', [field('scale')]: 'micros' },
  ...{ [field('currency')]: '', [field('default_currency')]: 'EUR' },
  ...{ [field('device')]: 'click', [field('device_is')]: 'click_id' },
  ...{ [field('network')]: 'net', [field('placement')]: '', [field('time')]: 'ts' },
};
const STORED = {
  ...{ id: 'event', amount: 'revenue', scale: 'micros', currency: null, default_currency: 'eur' },
  ...{ device: 'click', device_is: 'click_id', network: 'net', placement: null, ad_format: null },
  ...{ country: null, time: 'ts' },
};

it('lists the templates, and uses and removes a preset, with an entry in the audit log', async () => {
  const { tenant, admin, post, stored, inUse, card } = await open();
  expect(await inUse()).toEqual([]);
  expect((await card()).buttons).toEqual(expect.arrayContaining(['Use AppLovin MAX', 'Use TradPlus']));
  const saved = await post({ template: 'tradplus' });
  expect([saved.status, saved.headers.get('Location')]).toEqual([
    303,
    `/settings/applications/${tenant.application.id}?done=saved#impression-callbacks`,
  ]);
  expect([await stored(), await inUse()]).toEqual([IMPRESSION_PRESETS.tradplus.template, ['TradPlus']]);
  expect((await card()).buttons).toContain('Remove TradPlus');
  await post({ template: '' });
  expect([await stored(), await inUse()]).toEqual([null, []]);
  const audit = await pageOf(await admin.get('/settings/audit'));
  expect(audit.cells('Audit log', 'What').flat()).toHaveLength(2);
});

it('adds a template of one’s own, shows its address, edits it and replaces it', async () => {
  const { post, stored, inUse, addresses, card } = await open();
  expect((await post(OWN)).status).toBe(303);
  expect([await stored(), await inUse()]).toEqual([STORED, ['Own template']]);
  expect(await addresses()).toContain(
    '<secret>?event={IMPRESSION_ID}&revenue={AMOUNT}&click={DEVICE}&net={NETWORK}&ts={TIME}',
  );
  const form = await card();
  for (const [name, value] of Object.entries({ id: 'event', scale: 'micros', default_currency: 'EUR' }))
    expect(form.value(field(name))).toBe(value);
  await post({ ...OWN, [field('scale')]: 'ecpm' });
  expect(await stored()).toEqual({ ...STORED, scale: 'ecpm' });
  await post({ template: 'max' });
  expect([await inUse(), (await addresses()).length]).toEqual([['AppLovin MAX'], 2]);
});

it('shows what is wrong beside each field, keeps what was typed, and changes nothing', async () => {
  const { tenant, post, stored, admin } = await open();
  const typed = {
    ...OWN,
    [field('id')]: '',
    [field('amount')]: 'a b',
    [field('scale')]: 'cents',
    [field('default_currency')]: 'Taler',
    [field('country')]: 'x'.repeat(65),
  };
  const refused = await post(typed);
  expect(refused.status).toBe(400);
  const page = await pageOf(refused);
  const parameter = 'must be the name of a query parameter, of at most 64 letters, digits, - and _';
  expect(page.faults).toEqual({
    [field('id')]: `Parameter of the impression’s id ${parameter}`,
    [field('amount')]: `Parameter of the amount ${parameter}`,
    [field('scale')]: 'What the amount is of must be one of unit, micros, ecpm',
    [field('default_currency')]: expect.stringMatching(/^Currency without that parameter must be a/),
    [field('country')]: `Parameter of the country ${parameter}`,
  });
  expect(page.value(field('amount'))).toBe('a b');
  expect(new Page(page.one('#impression-callbacks')).all('details[open]')).toHaveLength(1);
  expect(await stored()).toBeNull();
  expect((await post({ template: 'mopub' })).status).toBe(400);
  const audit = await pageOf(await admin.get('/settings/audit'));
  expect(audit.text).not.toContain('application.changed');
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  expect(
    (await viewer.post(`/settings/applications/${tenant.application.id}/impression-template`, OWN)).status,
  ).toBe(403);
});

it('shows the secret in the addresses while it is shown', async () => {
  const { admin, path, post } = await open();
  await post(OWN);
  const page = await pageOf(await admin.submit(`${path}/intake-secret`, { grace_hours: '0' }));
  const secret = /\/stores\/apple\/([\w-]+)/.exec(page.text)?.[1];
  const addresses = page.card('Impression callbacks').texts('code');
  expect(addresses).toHaveLength(3);
  for (const address of addresses) expect(address).toContain(`/impression/${secret}?`);
});
