import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type Browser, cookieOf, signedIn } from '../helpers/person.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });
let tenant: Tenant;
let owner: Browser;
let forms: Form[];

type Form = { name: string; path: string; to: string; fields?: Record<string, string>; secret: RegExp };

beforeAll(async () => {
  tenant = await createTenant();
  owner = await signedIn(worker, tenant.team, 'owner');
  const { id } = tenant.application;
  forms = [
    {
      name: 'an access token',
      path: '/settings/tokens',
      to: '/settings/tokens',
      fields: { name: 'Backend', days: '30' },
      secret: /teamtoken_[\w-]+/,
    },
    {
      name: 'an invitation',
      path: '/settings/members',
      to: '/settings/members',
      fields: { note: 'Ann', role: 'viewer' },
      secret: /\/join\/[\w-]{43}/,
    },
    {
      name: 'a share link',
      path: '/views/links',
      to: '/views',
      fields: { address: `/ltv?app=${id}`, note: 'Board', days: '7' },
      secret: /\/shared\/[\w-]{43}/,
    },
    {
      name: 'an API key',
      path: `/settings/applications/${id}/key`,
      to: `/settings/applications/${id}#key`,
      secret: /appkey_[\w-]+/,
    },
    {
      name: 'the first calls',
      path: `/get-started?app=${id}`,
      to: `/get-started?app=${id}#first-event`,
      secret: /appkey_[\w-]+/,
    },
  ];
});

afterEach(() => {
  vi.useRealTimers();
});

const NAMES = ['an access token', 'an invitation', 'a share link', 'an API key', 'the first calls'];
const secretIn = async (page: Response, { secret }: Form) => secret.exec(await page.text())?.[0] ?? null;

async function send(name: string) {
  const form = forms.find((one) => one.name === name);
  if (!form) throw new Error(`there is no form of ${name}`);
  const answer = await owner.post(form.path, form.fields);
  return { form, answer, page: form.to.split('#')[0] ?? '', cookie: cookieOf(answer) };
}

it.each(NAMES)('shows %s on the page after the form, and not when that is reloaded', async (name) => {
  const { form, answer, page, cookie } = await send(name);
  expect([answer.status, answer.headers.get('Location'), await answer.text()]).toEqual([303, form.to, '']);
  const shown = await owner.get(page, cookie);
  expect(await secretIn(shown, form)).not.toBeNull();
  // A browser deletes the cookie with the page that shows its content.
  expect(shown.headers.getSetCookie()).toContain(
    `dashboard.show_once=; Max-Age=0; Path=${page.split('?')[0]}; Secure`,
  );
  expect(await secretIn(await owner.get(page), form)).toBeNull();
});

it('keeps it in a cookie that only this page gets and no script reads', async () => {
  const { form, answer, cookie } = await send('an access token');
  expect(answer.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^dashboard\.show_once=[\w-]+; Max-Age=60; Path=\/settings\/tokens; HttpOnly; Secure; SameSite=Strict$/,
    ),
  ]);
  expect(cookie).not.toMatch(form.secret);
});

it('shows nothing to another person, on another page, with a modified cookie, or after a minute', async () => {
  const { form, page, cookie } = await send('an access token');
  const other = await signedIn(worker, tenant.team, 'owner');
  expect(await secretIn(await other.get(page, cookie), form)).toBeNull();
  expect(await secretIn(await owner.get('/settings/members', cookie), form)).toBeNull();
  expect(await secretIn(await owner.get(page, `${cookie.slice(0, -4)}AAAA`), form)).toBeNull();
  expect(await secretIn(await owner.get(page, 'dashboard.show_once=nonsense'), form)).toBeNull();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
  expect(await secretIn(await owner.get(page, cookie), form)).toBeNull();
  vi.useRealTimers();
  expect(await secretIn(await owner.get(page, cookie), form)).not.toBeNull();
});
