import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { copyDatabase } from '../helpers/d1-copy.ts';
import { pageOf } from '../helpers/page.ts';
import { parkMessage } from '../helpers/parked.ts';
import { type Browser, signedIn } from '../helpers/person.ts';
import { createTenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker({ SIGN_IN_LIMIT: { limit: async () => ({ success: true }) } });

const ad = (creativeToken: string) => ({
  type: 'custom.ad',
  created_at: new Date().toISOString(),
  creativeToken,
  payload: { ad_id: 'main', source: 'banner', value: 0.5, currency: 'usd' },
});

const parkedOf = (applicationId: string) =>
  env.DB.prepare('SELECT id FROM parked_messages WHERE application_id = ?')
    .bind(applicationId)
    .all<{ id: string }>()
    .then(({ results }) => results.map(({ id }) => id));

async function impressions(browser: Browser): Promise<string | undefined> {
  const csv = await (await browser.get('/breakdown?by=day&format=csv')).text();
  const [head = '', row = ''] = csv.split('\r\n');
  return row.split(',')[head.split(',').indexOf('impressions')];
}

it('replays a parked message until it counts, once however often it is sent', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  await worker.post(tenant, '/webhook', ad(await fetchToken(worker, tenant)));
  const [message] = worker.queue.take();
  if (!message) throw new Error('nothing was sent');
  await worker.deliver([message], 'attribution-events-dead');
  const [id] = await parkedOf(tenant.application.id);
  const shown = await pageOf(await browser.get('/status'));
  expect(shown.cells('Parked messages', 'Application', 'Reason', 'Actions')).toEqual([
    ['Test game', 'It could not be stored for counting: every attempt failed. Replay it.', 'Replay Discard'],
  ]);
  expect(shown.figures.Parked).toBe('1 could not be counted');

  expect((await browser.post(`/status/${id}/replay`)).status).toBe(303);
  expect(await parkedOf(tenant.application.id)).toEqual([]);
  const sent = worker.queue.take();
  expect(sent.flatMap(({ body }) => eventsIn(body))).toEqual(eventsIn(message.body));
  await worker.deliver(sent);
  await worker.deliver([message]);
  await worker.deliver(sent);
  expect(await impressions(browser)).toBe('1');
  expect((await browser.post(`/status/${id}/replay`)).status).toBe(404);
  const log = await pageOf(await browser.get('/settings/audit'));
  expect(log.cells('Audit log', 'What')[0]).toEqual(['Replayed a parked message']);
});

it('keeps a message parked when the queue does not take it', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  await worker.deliver(
    [{ id: 'x', body: { v: 9, application_id: tenant.application.id } }],
    'attribution-events-dead',
  );
  const [id] = await parkedOf(tenant.application.id);
  worker.queue.failures = 10;
  expect((await browser.post(`/status/${id}/replay`)).status).toBe(500);
  worker.queue.failures = 0;
  expect(await parkedOf(tenant.application.id)).toEqual([id]);
  expect((await browser.post(`/status/${id}/discard`)).status).toBe(303);
  expect(await parkedOf(tenant.application.id)).toEqual([]);
});

it.each([
  [
    'not an event of this version: currency Invalid input: expected string, received number',
    'Another version of this service queued this event, and the running one cannot read it. Replay it after an upgrade. Details currency Invalid input: expected string, received number',
  ],
  ['could not be counted', 'Counting it failed. The log of this service has the error.'],
  ['a reason of a later version', 'It could not be counted. Details a reason of a later version'],
])('explains the reason “%s” in a sentence', async (reason, shown) => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'viewer');
  await parkMessage(tenant.application.id, { reason });
  const page = await pageOf(await browser.get('/status'));
  expect(page.cells('Parked messages', 'Reason')).toEqual([[shown]]);
});

it('shows what belongs to no team only while there is a single team', async () => {
  const tenant = await createTenant();
  const browser = await signedIn(worker, tenant.team, 'admin');
  await worker.deliver([{ id: 'broken', body: 'beyond repair' }], 'attribution-events-dead');
  const bodies = async () => (await pageOf(await browser.get('/status'))).texts('details pre');
  expect(await bodies()).toEqual([]);
  await env.DB.prepare('DELETE FROM teams WHERE id <> ?').bind(tenant.team.id).run();
  expect(await bodies()).toEqual(['"beyond repair"']);
});

it('resumes counting after a restore of the database, for an admin, and records who did', async () => {
  const tenant = await createTenant();
  const [admin, viewer] = [
    await signedIn(worker, tenant.team, 'admin'),
    await signedIn(worker, tenant.team, 'viewer'),
  ];
  const token = await fetchToken(worker, tenant);
  const count = async () => {
    await worker.post(tenant, '/webhook', ad(token));
    await worker.deliver(worker.queue.take());
    return impressions(admin);
  };
  expect(await count()).toBe('1');
  const setBack = await copyDatabase();
  expect(await count()).toBe('2');
  const health = async (browser: Browser) => pageOf(await browser.get('/status'));
  expect((await health(admin)).notices).toEqual([]);
  await setBack();
  expect(await count()).toBe('1');
  const notices = [
    'Counting has stopped: the database or counting was restored to an earlier time, or lost what it stored. Resume it.',
  ];
  const reason =
    'New events are still accepted, and will be counted once counting resumes. Resuming adds to the reports what the database has lost since the restored time.';
  const stopped = await health(admin);
  expect(stopped.texts('.fresh')).toEqual([expect.stringMatching(/^Counting /)]);
  const line = stopped.one('#fresh');
  const renewed = async () => pageOf(await admin.get(line.getAttribute('data-from') ?? ''));
  expect((await renewed()).texts('#fresh[data-live]')).toEqual([expect.stringMatching(/^Counting /)]);
  expect(stopped.notices.slice(0, 1)).toEqual(notices);
  expect(stopped.notices[1]).toBe(`${reason} Resume counting`);
  expect((await health(viewer)).notices).toContain(`${reason} Ask an admin of your team to resume it.`);
  expect((await viewer.post('/status/resume')).status).toBe(403);
  const answer = await admin.post(stopped.actions.find((path) => path.startsWith('/status/resume')) ?? '');
  expect(answer.status).toBe(303);
  const resumed = await pageOf(await admin.get(answer.headers.get('Location') ?? ''));
  expect(resumed.notices).toEqual(['Counting has resumed.']);
  const done = await renewed();
  expect(done.texts('#fresh')).toEqual(['Counted. Show the newest figures']);
  expect(done.link('Show the newest figures')).toMatch(/^\//);
  expect(await impressions(admin)).toBe('3');
  const log = await pageOf(await admin.get('/settings/audit'));
  expect(log.cells('Audit log', 'What')[0]).toEqual(['Resumed counting']);
});
