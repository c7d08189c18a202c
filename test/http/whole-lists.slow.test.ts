import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { auditLog, database } from '#db';
import { newId } from '#lib/ids';
import { ENDPOINTS } from '../../src/service.ts';
import { eventOf, startCounter } from '../helpers/counter.ts';
import { createCreative } from '../helpers/creatives.ts';
import { pageOf } from '../helpers/page.ts';
import { parkMessage } from '../helpers/parked.ts';
import { signedIn } from '../helpers/person.ts';
import { seededRandom } from '../helpers/random.ts';
import { destinationObject, Receiver } from '../helpers/receiver.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Every list with a cursor has each of its items once, whatever the limit, and ends. Many items share what the list is sorted by.

const worker = startWorker();
const COUNT = 23;
const LIMITS = [1, 5, COUNT, COUNT + 1];

const random = seededRandom(45);
const oneOf = <Item>(...items: [Item, ...Item[]]): Item =>
  items[Math.floor(random() * items.length)] ?? items[0];
const numbers = (count = COUNT) => Array.from({ length: count }, (_, index) => index);
const day = () => oneOf('2026-03-01', '2026-03-02', '2026-02-28');

async function send<Body>(tenant: Tenant, method: string, path: string, body: object): Promise<Body> {
  const answer = await worker.team(tenant, path, { method, body });
  expect(answer.status, await answer.clone().text()).toBeLessThan(300);
  return answer.json();
}

/** Gives a list its items. Returns what an address needs beside the application. */
type Fill = (tenant: Tenant, own: { application_id: string }) => Promise<string | undefined>;

const addCreatives: Fill = async (tenant) => {
  for (const index of numbers()) {
    await createCreative(worker, tenant, {
      ...{ campaign: `Campaign ${index}`, adset: `Ad set ${index}`, creative: 'Same name' },
    });
  }
  return undefined;
};

const addCosts: Fill = async (tenant, own) => {
  const rows = numbers().map((index) => ({
    ...{
      date: day(),
      campaign: oneOf('A', 'B'),
      adset: String(index),
      currency: oneOf('usd', 'eur'),
      amount: 1,
    },
  }));
  await send(tenant, 'PUT', '/v1/costs', { ...own, rows });
  return undefined;
};

async function addDestination(tenant: Tenant, own: { application_id: string }): Promise<string> {
  const made = await send<{ id: string }>(tenant, 'POST', '/v1/destinations', {
    ...own,
    ...{ kind: 'webhook', url: 'https://hooks.example.com/in', events: ['purchase'] },
  });
  await destinationObject(made.id, new Receiver()).inside((_, { storage }) => {
    for (const _index of numbers()) {
      storage.sql.exec(
        `INSERT INTO deliveries (event_id, device_id, type, status, tries, item, attempts) VALUES (?, 'dev', 'purchase', ?, 1, '{}', '[]')`,
        ...[newId('evt'), oneOf('delivered', 'failed')],
      );
    }
  });
  return made.id;
}

/** By endpoint, and further parameters with which its list is read. */
const LISTS: Record<string, { fill: Fill; queries?: string[]; ofTeam?: true; isOwn?: true; id: string }> = {
  '/v1/applications': {
    id: 'id',
    ofTeam: true,
    // The tenant has one.
    async fill(tenant) {
      for (const _ of numbers(COUNT - 1)) await send(tenant, 'POST', '/v1/applications', { name: 'Same' });
      return undefined;
    },
  },
  '/v1/campaigns': { fill: addCreatives, queries: ['', '&q=campaign'], id: 'id' },
  '/v1/adsets': { fill: addCreatives, queries: ['', '&q=ad'], id: 'id' },
  '/v1/creatives': { fill: addCreatives, queries: ['', '&q=same'], id: 'id' },
  '/v1/costs': {
    fill: addCosts,
    queries: ['', '&order=newest', '&order=oldest', '&unmatched=true', '&order=newest&unmatched=true'],
    id: 'adset',
  },
  '/v1/exchange-rates': {
    id: 'rate',
    ofTeam: true,
    async fill(tenant) {
      for (const [offset, date] of ['2026-03-01', '2026-03-02'].entries()) {
        const codes = ['eur', 'gbp', 'jpy', 'chf', 'sek', 'nok', 'dkk', 'pln', 'czk', 'huf', 'try', 'inr'];
        const all = codes.map((code, index) => [code, 1 + 2 * index + offset] as const);
        const rates = Object.fromEntries(offset === 0 ? all : all.slice(1));
        await send(tenant, 'PUT', '/v1/exchange-rates', { date, base: 'usd', rates });
      }
      return undefined;
    },
  },
  '/v1/notes': {
    id: 'id',
    async fill(tenant, own) {
      for (const _ of numbers()) {
        await send(tenant, 'POST', '/v1/notes', { ...own, day: day(), text: 'Same' });
      }
      return undefined;
    },
  },
  '/v1/alerts': {
    id: 'id',
    async fill(tenant, own) {
      const rule = { kind: 'metric', metric: 'spend', condition: 'above', days: 1, threshold: 1 };
      for (const _ of numbers()) await send(tenant, 'POST', '/v1/alerts', { ...own, ...rule });
      return undefined;
    },
  },
  '/v1/parked': {
    id: 'id',
    ofTeam: true,
    async fill({ application }) {
      for (const _ of numbers()) await parkMessage(application.id, { parkedAt: oneOf(1, 2, 1_000) });
      return undefined;
    },
  },
  '/v1/events': {
    id: 'event_id',
    queries: ['', '&type=custom', '&from=2026-03-02'],
    async fill({ application }) {
      const counter = startCounter(application.id);
      const [device] = await counter.createDevices(1);
      if (!device) throw new Error('one device');
      // One event is that of the install.
      await counter.append(numbers(COUNT - 1).map(() => eventOf(application.id, device, 'custom')));
      return undefined;
    },
  },
  '/v1/destinations/{destination_id}/deliveries': {
    id: 'event_id',
    fill: addDestination,
    queries: ['', '&status=failed'],
    isOwn: true,
  },
};

const addressOf = (path: string, tenant: Tenant, id: string | undefined) => {
  const { ofTeam, isOwn } = LISTS[path] ?? {};
  const own = ofTeam || isOwn ? '' : `application_id=${tenant.application.id}&`;
  return `${path.replace('{destination_id}', id ?? '')}?${own}`;
};

type Page = { data: Record<string, unknown>[]; next_cursor: string | null };

it('knows every list with a cursor', () => {
  const paths = ENDPOINTS.filter(({ query }) => query && 'cursor' in query.schema.shape).map(
    ({ path }) => path,
  );
  expect(Object.keys(LISTS).sort()).toEqual(paths.sort());
});

describe.each(Object.entries(LISTS))('GET %s', (path, { fill, queries = [''], id }) => {
  it('has every item once with any limit, and ends', async () => {
    const [tenant, other] = [await createTenant(), await createTenant()];
    const item = await fill(tenant, { application_id: tenant.application.id });
    await fill(other, { application_id: other.application.id });
    const address = addressOf(path, tenant, item);
    const read = async (query: string): Promise<Page> => {
      const answer = await worker.team(tenant, `${address}${query}`);
      expect(answer.status, query).toBe(200);
      return answer.json();
    };
    for (const query of queries) {
      const whole = await read(`limit=200${query}`);
      expect(whole.next_cursor).toBeNull();
      expect(new Set(whole.data.map((row) => row[id])).size).toBe(whole.data.length);
      if (query === '') expect(whole.data).toHaveLength(COUNT);
      else expect(whole.data.length).toBeGreaterThan(3);
      for (const limit of LIMITS) {
        const found: Page['data'] = [];
        const cursors = new Set<string>();
        for (let cursor: string | null = ''; cursor !== null; ) {
          const page = await read(`limit=${limit}${query}&cursor=${encodeURIComponent(cursor)}`);
          found.push(...page.data);
          cursor = page.next_cursor;
          expect(cursors, 'a cursor came twice').not.toContain(cursor);
          if (cursor !== null) cursors.add(cursor);
        }
        expect(found).toEqual(whole.data);
      }
    }
  }, 60_000);

  it('refuses a cursor that is none', async () => {
    const tenant = await createTenant();
    const item = path.includes('{')
      ? await fill(tenant, { application_id: tenant.application.id })
      : undefined;
    const address = addressOf(path, tenant, item);
    for (const cursor of ['xyz', '0', '%27', 'bm8', 'W10', '5.x', newId('tok'), `${newId('evt')}0`]) {
      const answer = await worker.team(tenant, `${address}cursor=${cursor}`);
      expect([answer.status, await answer.json()], cursor).toEqual([
        400,
        { message: 'cursor must be a cursor returned by a previous request' },
      ]);
    }
  });
});

/** Follows the link to what is older to the end. Returns the rows of the pages' table. */
async function walkPages(open: (path: string) => Promise<Response>, from: string, caption: string) {
  const rows: string[][] = [];
  const seen = new Set<string>();
  for (let next: string | undefined = from; next !== undefined; ) {
    expect(seen, 'a page links to itself').not.toContain(next);
    seen.add(next);
    const answer = await open(next);
    expect(answer.status, next).toBe(200);
    const page = await pageOf(answer);
    rows.push(...page.table(caption).rows);
    next = page.links.get('Older');
  }
  return { rows, pages: seen.size };
}

describe('the dashboard', () => {
  it('shows the whole audit log, page by page', async () => {
    const tenant = await createTenant();
    const admin = await signedIn(worker, tenant.team, 'admin');
    const db = database(env.DB);
    for (const index of numbers(230)) {
      await db.insert(auditLog).values({
        ...{ teamId: tenant.team.id, id: newId('aud'), at: 1_772_359_200_000, actor: 'ann@example.com' },
        ...{ action: 'note.created', subject: `note ${index}` },
      });
    }
    const path = '/settings/audit?what=note.created';
    const { rows, pages } = await walkPages((next) => admin.get(next), path, 'Audit log');
    expect(rows.map((row) => row.at(-1))).toEqual(numbers(230).map((index) => `note ${229 - index}`));
    expect(pages).toBe(3);
  });

  it('shows all deliveries of a destination, page by page', async () => {
    const tenant = await createTenant();
    const admin = await signedIn(worker, tenant.team, 'admin');
    const own = { application_id: tenant.application.id };
    const id = await addDestination(tenant, own);
    const object = destinationObject(id, new Receiver());
    const events = numbers(90 - COUNT).map(() => newId('evt'));
    await object.inside((_, { storage }) => {
      for (const event of events) {
        storage.sql.exec(
          `INSERT INTO deliveries (event_id, device_id, type, status, tries, item, attempts) VALUES (?, 'dev', 'purchase', 'delivered', 1, '{}', '[]')`,
          event,
        );
      }
    });
    const path = `/settings/destinations/${id}`;
    const { rows } = await walkPages(
      (next) => admin.get(next.replace(/#.*/, '')),
      path,
      'Deliveries, the newest first',
    );
    expect(new Set(rows.map((row) => row.at(-1))).size).toBe(90);
    expect(rows).toHaveLength(90);
  });
});
