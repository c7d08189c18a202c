import * as fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { createCreative } from '../helpers/creatives.ts';
import { settleAll } from '../helpers/settle.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { fetchToken, startWorker } from '../helpers/worker.ts';

// Clicks and impressions that networks report, and the devices that they lead to, counted a second time.

const HOUR = 3_600_000;
// They differ in the version too: a click of another model on the same version is just likely enough to be credited.
const MODELS = [
  { name: 'Pixel 8', version: 14 },
  { name: 'SM-S931B', version: 16 },
] as const;
type Model = (typeof MODELS)[number];
const ADDRESSES = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];
const NAMES = ['Cat', 'Dog'];
const agentOf = ({ name, version }: Model) =>
  `Mozilla/5.0 (Linux; Android ${version}; ${name}) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36`;

const worker = startWorker();
let links: { id: string; click: string; impression: string }[];
let tenant: Tenant;

async function newTenant() {
  tenant = await createTenant();
  links = [];
  for (const creative of NAMES) {
    const { id } = await createCreative(worker, tenant, { creative });
    const answer = await worker.team(tenant, `/v1/creatives/${id}/links`);
    const { server_links } = await answer.json<{ server_links: { click: string; impression: string } }>();
    links.push({ id, ...server_links });
  }
}

beforeAll(newTenant);

type Touch = {
  event: 'click' | 'impression';
  creative: number;
  address: number;
  model: number;
  hoursAgo: number;
};
type Phone = { address: number; model: number };

const touches = fc.array(
  fc.record<Touch>({
    event: fc.constantFrom('click', 'impression', 'impression'),
    creative: fc.nat(NAMES.length - 1),
    address: fc.nat(ADDRESSES.length - 1),
    model: fc.nat(MODELS.length - 1),
    // Both windows are 24 hours.
    hoursAgo: fc.nat(30),
  }),
  { maxLength: 12 },
);
const phones = fc.array(
  fc.record<Phone>({ address: fc.nat(ADDRESSES.length - 1), model: fc.nat(MODELS.length - 1) }),
  { minLength: 1, maxLength: 5 },
);

/**
 * The creative of each phone: of the newest click of the same model at its address that no phone has taken, else of the newest impression.
 * `all` is in the order of time.
 */
function credited(all: readonly Touch[], devices: readonly Phone[]): (number | null)[] {
  const taken = new Set<Touch>();
  return devices.map(({ address, model }) => {
    const own = all.filter(
      (touch) =>
        touch.address === address && touch.model === model && touch.hoursAgo < 24 && !taken.has(touch),
    );
    const touch =
      own.findLast(({ event }) => event === 'click') ?? own.findLast(({ event }) => event === 'impression');
    if (!touch) return null;
    taken.add(touch);
    return touch.creative;
  });
}

it('attributes devices and counts impressions as a second count does', () =>
  fc.assert(
    fc.asyncProperty(touches, phones, async (drawn, devices) => {
      await newTenant();
      const now = Date.now();
      const all = [...drawn].sort((left, right) => right.hoursAgo - left.hoursAgo);
      for (const [index, { event, creative, address, model, hoursAgo }] of all.entries()) {
        const link = new URL(links[creative]?.[event] ?? '');
        // A minute apart, so that the order of equals is known, and clicks at different times are no repeats of one person.
        const time = String(now - hoursAgo * HOUR - (all.length - index) * 60_000);
        const ua = agentOf(MODELS[model] ?? MODELS[0]);
        const query = new URLSearchParams({ ip: ADDRESSES[address] ?? '', ua, time });
        const answer = await worker.request(`${link.pathname}${link.search}&${query}`);
        expect(answer.status).toBe(200);
      }
      await worker.deliver(worker.queue.take());
      for (const { address, model } of devices) {
        const { name: device_model, version } = MODELS[model] ?? MODELS[0];
        const data = {
          device_name: device_model,
          device_model,
          os_system: `Android ${version}`,
          ip: ADDRESSES[address],
        };
        await fetchToken(worker, tenant, { data });
      }
      await settleAll(tenant.application.id);
      const [from, to] = [2, 0].map((days) => new Date(now - days * 24 * HOUR).toISOString().slice(0, 10));
      const path = `/v1/reports/performance?application_id=${tenant.application.id}&from=${from}&to=${to}&group_by=creative`;
      const { data, totals } = await (await worker.team(tenant, path)).json<{
        data: {
          creative_id: string | null;
          installs: number;
          creative_impressions: number;
          clicks: number;
        }[];
        totals: Record<string, unknown>;
      }>();
      const brought = credited(all, devices);
      const shown = (creative: number, event: Touch['event']) =>
        all.filter((touch) => touch.creative === creative && touch.event === event).length;
      for (const [index, { id }] of links.entries()) {
        const row = data.find(({ creative_id }) => creative_id === id);
        expect({
          installs: row?.installs ?? 0,
          creative_impressions: row?.creative_impressions ?? 0,
          clicks: row?.clicks ?? 0,
        }).toEqual({
          installs: brought.filter((creative) => creative === index).length,
          creative_impressions: shown(index, 'impression'),
          clicks: shown(index, 'click'),
        });
      }
      expect(totals.installs).toBe(devices.length);
    }),
    { numRuns: 25 },
  ));
