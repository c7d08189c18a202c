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
const CAMPAIGN = 'Summer';
const ADSETS = ['Broad', 'Narrow'];
const agentOf = ({ name, version }: Model) =>
  `Mozilla/5.0 (Linux; Android ${version}; ${name}) AppleWebKit/537.36 Chrome/130.0.0.0 Mobile Safari/537.36`;

const worker = startWorker();
let links: { id: string; click: string; impression: string }[];
let tenant: Tenant;

async function newTenant() {
  tenant = await createTenant();
  links = [];
  for (const [index, creative] of NAMES.entries()) {
    const names = { campaign: CAMPAIGN, adset: ADSETS[index] ?? '', creative };
    const { id } = await createCreative(worker, tenant, names);
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
/** A row of costs. Its impressions are null if it states none. */
type Cost = {
  of: 'creative' | 'adset' | 'campaign';
  creative: number;
  daysAgo: number;
  country: 'de' | undefined;
  impressions: number | null;
};
const costs = fc.uniqueArray(
  fc.record<Cost>({
    of: fc.constantFrom('creative', 'creative', 'adset', 'campaign'),
    creative: fc.nat(NAMES.length - 1),
    daysAgo: fc.nat(2),
    country: fc.constantFrom('de', undefined),
    impressions: fc.option(fc.nat(50)),
  }),
  {
    maxLength: 3,
    selector: ({ of, creative, daysAgo, country }) =>
      [of, of === 'campaign' || creative, daysAgo, country].join(),
  },
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
    fc.asyncProperty(touches, phones, costs, async (drawn, devices, spent) => {
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
      const timeOf = ({ hoursAgo }: Touch, index: number) =>
        now - hoursAgo * HOUR - (all.length - index) * 60_000;
      const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
      const dayAgo = (days: number) => dayOf(now - days * 24 * HOUR);
      if (spent.length > 0) {
        const rows = spent.map(({ of, creative, daysAgo, country, impressions }) => ({
          ...{ date: dayAgo(daysAgo), currency: 'usd', amount: 1, campaign: CAMPAIGN, country },
          ...(of === 'campaign' ? {} : { adset: ADSETS[creative] }),
          ...(of === 'creative' ? { creative: NAMES[creative] } : {}),
          ...(impressions === null ? {} : { impressions }),
        }));
        const body = { application_id: tenant.application.id, rows };
        expect((await worker.team(tenant, '/v1/costs', { method: 'PUT', body })).status).toBe(200);
      }
      const isStated = (creative: number, day: string) =>
        spent.some(
          (cost) =>
            cost.impressions !== null &&
            dayAgo(cost.daysAgo) === day &&
            (cost.of === 'campaign' || cost.creative === creative),
        );
      const reported = all.filter(
        (touch, index) =>
          touch.event === 'impression' && !isStated(touch.creative, dayOf(timeOf(touch, index))),
      );
      const bought = (impressions: readonly Touch[], stated: readonly Cost[]) =>
        impressions.length + stated.reduce((sum, cost) => sum + (cost.impressions ?? 0), 0);

      await settleAll(tenant.application.id);
      type Row = Record<'creative_id' | 'campaign' | 'day', string | null> &
        Record<'installs' | 'ad_impressions_bought' | 'clicks', number>;
      const ask = async (query: string) => {
        const period = `from=${dayAgo(2)}&to=${dayAgo(0)}`;
        const path = `/v1/reports/performance?application_id=${tenant.application.id}&${period}&${query}`;
        return (await worker.team(tenant, path)).json<{
          data: Row[];
          totals: Row & Record<'ctr' | 'cvr' | 'ipm', number | null>;
        }>();
      };
      const { data, totals } = await ask('group_by=creative');
      const brought = credited(all, devices);
      const isOf = (creative: number) => (one: { creative: number }) => one.creative === creative;
      for (const [index, { id }] of links.entries()) {
        const row = data.find(({ creative_id }) => creative_id === id);
        const stated = spent.filter(({ of, creative }) => of === 'creative' && creative === index);
        expect({
          installs: row?.installs ?? 0,
          ad_impressions_bought: row?.ad_impressions_bought ?? 0,
          clicks: row?.clicks ?? 0,
        }).toEqual({
          installs: brought.filter((creative) => creative === index).length,
          ad_impressions_bought: bought(reported.filter(isOf(index)), stated),
          clicks: all.filter(isOf(index)).filter(({ event }) => event === 'click').length,
        });
      }
      const impressions = bought(reported, spent);
      const clicks = all.filter(({ event }) => event === 'click').length;
      const installs = brought.filter((creative) => creative !== null).length;
      expect(totals).toMatchObject({
        ...{ ad_impressions_bought: impressions, clicks },
        ctr: impressions === 0 ? null : clicks / impressions,
        cvr: clicks === 0 ? null : installs / clicks,
        ipm: impressions === 0 ? null : (installs * 1000) / impressions,
      });
      const byCampaign = await ask('group_by=campaign');
      const ofCampaign = byCampaign.data.find(({ campaign }) => campaign === CAMPAIGN);
      expect(ofCampaign?.ad_impressions_bought ?? 0).toBe(impressions);
      const byDay = await ask('group_by=day&metrics=ad_impressions_bought');
      for (const daysAgo of [0, 1, 2]) {
        const day = dayAgo(daysAgo);
        const own = all.filter(
          (touch, index) => reported.includes(touch) && dayOf(timeOf(touch, index)) === day,
        );
        expect(byDay.data.find((row) => row.day === day)?.ad_impressions_bought ?? 0).toBe(
          bought(
            own,
            spent.filter((cost) => cost.daysAgo === daysAgo),
          ),
        );
      }
      // Costs that state no country are of none.
      const { totals: german } = await ask('group_by=day&country=DE');
      expect(german.ad_impressions_bought).toBe(
        bought(
          [],
          spent.filter(({ country }) => country === 'de'),
        ),
      );
      expect(totals.installs).toBe(devices.length);
    }),
    { numRuns: 25 },
  ));
