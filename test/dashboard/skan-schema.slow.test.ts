import { beforeEach, expect, it } from 'vitest';
import { pageOf } from '../helpers/page.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// The form of the conversion value schema: all of it works without scripts.

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

let tenant: Tenant;
let admin: Browser;

beforeEach(async () => {
  tenant = await createTenant({ currency: 'eur' });
  admin = await signedIn(worker, tenant.team, 'admin');
});

const api = () => `/v1/applications/${tenant.application.id}/skan-schema`;
const stored = async () =>
  (await (await worker.team(tenant, api())).json<{ versions: unknown[] }>()).versions;
const open = async (query = '') => pageOf(await admin.get(`/skan/schema${query}`));
const FORM = { edited: '', valid_from: '2026-03-01', currency: 'EUR', fine: '', coarse: '' };
const save = (fields: Partial<typeof FORM>) => admin.post('/skan/schema', { ...FORM, ...fields });
const audited = async () =>
  (await pageOf(await admin.get('/settings/audit'))).cells('Audit log', 'What', 'Details');

const none = { event: null, revenue_min: 0, revenue_max: 0 };

it('stores the lines of a spreadsheet as the API does, with an entry in the audit log, and shows them again', async () => {
  expect((await open()).text).toContain('None yet');
  const saved = await save({
    fine: '0\tinstall\r\n\r\n7;"buy; now"; 1.5\n63,,0.99,4.99\n5',
    coarse: '1, low, install\n1,HIGH,purchase,5,50\n3,medium,,2',
  });
  expect([saved.status, saved.headers.get('Location')?.includes('done=saved')]).toEqual([303, true]);
  const version = {
    valid_from: '2026-03-01',
    currency: 'eur',
    fine: {
      '0': { ...none, event: 'install' },
      '5': none,
      '7': { event: 'buy; now', revenue_min: 1.5, revenue_max: 1.5 },
      '63': { event: null, revenue_min: 0.99, revenue_max: 4.99 },
    },
    coarse: {
      '1': {
        low: { ...none, event: 'install' },
        high: { event: 'purchase', revenue_min: 5, revenue_max: 50 },
      },
      '3': { medium: { event: null, revenue_min: 2, revenue_max: 2 } },
    },
  };
  expect(await stored()).toEqual([version]);
  expect((await audited())[0]?.[0]).toBe('Saved the conversion value schema');
  const page = await open('?version=2026-03-01');
  expect(
    page.cells('Versions of the conversion value schema', 'Currency', 'Fine values', 'Coarse values'),
  ).toEqual([['EUR', '4', '3']]);
  const shown = {
    fine: page.one('#field-fine').text.trim(),
    coarse: page.one('#field-coarse').text.trim(),
  };
  expect(shown).toEqual({
    fine: '0,install\n5\n7,buy; now,1.5,1.5\n63,,0.99,4.99',
    coarse: '1,low,install\n1,high,purchase,5,50\n3,medium,,2,2',
  });
  // What it shows is what it stores.
  await save({ ...shown, edited: '2026-03-01' });
  expect(await stored()).toEqual([version]);
});

it('takes all 64 values, keeps the other versions, moves one to another day and removes one', async () => {
  const all = Array.from({ length: 64 }, (_, value) => `${value},level ${value},${value},${value + 0.5}`);
  await save({ fine: all.join('\n') });
  await save({ valid_from: '2026-04-01', currency: 'usd', coarse: '1,low,trial' });
  const next = await open();
  // A new version begins as the latest one.
  expect([next.value('currency'), next.one('#field-coarse').text.trim()]).toEqual(['USD', '1,low,trial']);
  await save({ edited: '2026-04-01', valid_from: '2026-05-01', coarse: '2,high,trial' });
  const [first, second, ...rest] = (await stored()) as {
    valid_from: string;
    fine: Record<string, unknown>;
  }[];
  expect(rest).toEqual([]);
  expect(Object.values(first?.fine ?? {})).toHaveLength(64);
  expect(second).toMatchObject({ valid_from: '2026-05-01', coarse: { '2': { high: { event: 'trial' } } } });
  expect((await admin.post('/skan/schema/remove', { version: '2026-05-01' })).status).toBe(303);
  expect(await stored()).toEqual([first]);
  expect(await audited()).toHaveLength(4);
});

it('says which line is wrong, keeps what was typed, and changes nothing', async () => {
  await save({ fine: '1,trial' });
  const typed = {
    currency: 'Taler',
    fine: ['64,a', 'x,a', '1,a', '01,a', '1,b', '2,a,5,4', '3,a,cheap', '4,a,0,99,4,99', '5,a,-1'].join('\n'),
    coarse: ['4,low,a', '1,lowest,a', 'low,a', '1,low,a', '1,LOW,b', '1,high,a,2,1'].join('\n'),
  };
  const refused = await save(typed);
  expect(refused.status).toBe(400);
  const page = await pageOf(refused);
  const begin = 'must begin with a value from 0 to 63';
  const window = 'must begin with a window from 1 to 3, and low, medium or high';
  expect(page.texts('.fault')).toEqual([
    expect.stringMatching(/^Currency must be a/),
    ...[`line 1: ${begin}`, `line 2: ${begin}`, `line 4: ${begin}`, 'line 5: has the value of line 3 again']
      .concat(
        'line 8: has too many cells: after the value, an event and two amounts with decimal points',
        'line 6: highest revenue must be at least the lowest revenue',
        'line 7: lowest revenue must be a number',
        'line 9: lowest revenue must not be negative',
      )
      .map((text) => `Fine values, ${text}`),
    ...[
      `line 1: ${window}`,
      `line 2: ${window}`,
      `line 3: ${window}`,
      'line 5: has the value of line 4 again',
    ]
      .concat('line 6: highest revenue must be at least the lowest revenue')
      .map((text) => `Coarse values, ${text}`),
  ]);
  expect([page.value('currency'), page.one('#field-fine').text.trim()]).toEqual(['Taler', typed.fine]);
  const again = await pageOf(await save({ fine: '2,b' }));
  expect(again.faults).toEqual({ valid_from: 'From is the day of another version' });
  expect((await pageOf(await save({ valid_from: '' }))).faults).toEqual({ valid_from: 'From is required' });
  expect(await stored()).toHaveLength(1);
  expect(await audited()).toHaveLength(1);
});

it('finds no version that is not there, and lets viewers look', async () => {
  await save({ fine: '1,trial' });
  const viewer = await signedIn(worker, tenant.team, 'viewer');
  const page = await pageOf(await viewer.get('/skan/schema?version=2026-03-01'));
  expect(page.one('#field-fine').text.trim()).toBe('1,trial');
  expect([page.all('fieldset[disabled]').length, page.buttons]).toEqual([
    1,
    expect.not.arrayContaining(['Remove']),
  ]);
  expect((await admin.get('/skan/schema?version=2026-03-02')).status).toBe(404);
  expect((await save({ edited: '2026-03-02' })).status).toBe(404);
  expect((await admin.post('/skan/schema/remove', { version: '2026-03-02' })).status).toBe(404);
  const stranger = await signedIn(worker, (await createTenant()).team, 'admin');
  expect((await stranger.get('/skan/schema?version=2026-03-01')).status).toBe(404);
});
