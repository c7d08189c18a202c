import { SingleBar } from 'cli-progress';
import { inParallel } from '#lib/collections/in-parallel';
import { DAY_MS } from '#lib/time';
import { Api } from './api.ts';
import { CommandError, runCommand, UsageError } from './command.ts';
import { type Demo, localState, readDemo } from './local-state.ts';
import { appleToken } from './simulation/apple-ads.ts';
import { CALLBACK_TEMPLATE, divideCallbacks } from './simulation/callbacks.ts';
import { simulateCosts } from './simulation/costs.ts';
import {
  numberOf,
  type SimulatedDevice,
  type SimulatedEvent,
  simulateDevices,
  simulateEvents,
  simulateRates,
} from './simulation/history.ts';
import { isNamedByMeta, linkSettings, metaReferrer, newMetaKey } from './simulation/meta-ads.ts';
import { Random } from './simulation/random.ts';
import { sendForgedNotifications, sendPostbacks } from './simulation/send-postbacks.ts';
import { connectBefore, fetchReports } from './simulation/services.ts';
import { simulateStoreEvents } from './simulation/stores.ts';
import { AdLedger, FETCHED_NETWORK } from './simulation/told.ts';
import {
  clickLinks,
  PARALLEL,
  reportClicks,
  showCreatives,
  type TrackingLink,
} from './simulation/touches.ts';
import { CREATIVES, isIos } from './simulation/world.ts';

const USAGE = `Usage: npm run simulate -- [--devices N] [--days D] [--seed S]

Sends a realistic history for the demo application to a running \`npm start\`, through its public API: of N devices (default 500) over D
days (default 60). The same seed on the same day (UTC) sends the same devices, costs and events, which are counted once; only what happens on
the day itself goes on.`;
/** Twice the dashboard's default period, so that each figure has one before it. */
const DEFAULT_DAYS = 60;
/** What stores keep of small developers' payments. */
const STORE_FEE = 0.15;
const EVENTS_PER_REQUEST = 500;
const COSTS_PER_REQUEST = 1_000;
/** How often to ask whether everything sent has been counted, and for how long. */
const COUNTED_EVERY_MS = 2_000;
const COUNTED_WITHIN_MS = 60_000;
const ANDROID_STORE_URL = 'https://play.google.com/store/apps/details?id=com.example.game';

function readNumber(name: string, text: string | undefined, fallback: number, max: number): number {
  const number = text === undefined ? fallback : Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new UsageError(`--${name} must be a whole number from 1 to ${max}, not "${text}".`);
}

/** Sets the application's Google Play URL, if it has none yet. */
async function setPlayUrl(api: Api, demo: Demo): Promise<void> {
  const path = `/v1/applications/${demo.application.id}`;
  const application = await api.team<{ android_store_url: string | null }>('GET', path);
  if (application.android_store_url === null) {
    await api.team('PATCH', path, { android_store_url: ANDROID_STORE_URL });
  }
}

async function createCreatives(api: Api, demo: Demo): Promise<TrackingLink[]> {
  const links: TrackingLink[] = [];
  for (const [index, { creative, campaign, adset, network }] of CREATIVES.entries()) {
    const answer = await api.team<{ creative: { tracking_link: string } }>(
      'POST',
      '/v1/creatives',
      { creative, campaign, adset, app_api_key: demo.api_key },
      { 'Idempotency-Key': `simulated-creative-${index}` },
    );
    const first = answer.creative.tracking_link;
    const token = first.slice(first.lastIndexOf('/') + 1);
    const { id, tracking_link: url } = await creativeOf(api, demo, token);
    await api.team('PATCH', `/v1/creatives/${id}`, linkSettings(index, { network }));
    const { click, impression } = await serverLinksOf(api, id);
    links.push({ url, network, token, clicks: click, impressions: impression });
  }
  return links;
}

/** The creative with a tracking token, and its link of today: a repeated creation answers with the address that the service had at first. */
async function creativeOf(
  api: Api,
  demo: Demo,
  token: string,
): Promise<{ id: string; tracking_link: string }> {
  const list = `/v1/creatives?application_id=${demo.application.id}&limit=200`;
  const { data } = await api.team<{ data: { id: string; tracking_link: string }[] }>('GET', list);
  const found = data.find(({ tracking_link }) => tracking_link.endsWith(`/${token}`));
  if (!found) throw new CommandError('A creative of the simulation is missing. Was it deleted?');
  return found;
}

/** Where a network's server reports clicks on a creative, and its impressions. */
async function serverLinksOf(api: Api, id: string) {
  const path = `/v1/creatives/${id}/links`;
  type Links = { server_links: { click: string; impression: string } };
  return (await api.team<Links>('GET', path)).server_links;
}

/** What Google Play reports of an Android install that an ad brought. For one in twelve, the click came after the installation began. */
function playTimes(device: SimulatedDevice): Record<string, number> {
  const { acquiredAt, creative, model } = device;
  if (creative === null || isIos(model)) return {};
  const opened = Math.floor(acquiredAt / 1000);
  const isInjected = numberOf(device) % 12 === 0;
  return {
    referrer_click_timestamp_server_seconds: opened - (isInjected ? 15 : 90),
    install_begin_timestamp_server_seconds: opened - 60,
  };
}

async function fetchToken(
  api: Api,
  device: SimulatedDevice,
  link: TrackingLink | undefined,
  {
    referrer,
    clickId,
    ip,
  }: { referrer?: string | undefined; clickId?: string | undefined; ip?: string | undefined },
) {
  const { token } = await api.ingest<{ token: string }>('/fetch-token', {
    type: 'device-metrics',
    created_at: new Date(device.acquiredAt).toISOString(),
    data: {
      device_id: device.id,
      device_name: device.model.name,
      device_model: device.model.name,
      os_system: device.model.os,
      timezone: device.country.timezone,
      country: device.country.code,
      dpi: device.model.dpi,
      window_height: device.model.height,
      window_width: device.model.width,
      ...(referrer ? { install_referrer: referrer } : {}),
      ...(clickId ? { click_id: clickId } : {}),
      ...(ip ? { ip } : {}),
      ...playTimes(device),
      ...appleToken(device),
      ...(link ? { creative_token: link.token, network: link.network } : {}),
    },
  });
  return token;
}

async function sendEvents(api: Api, events: readonly SimulatedEvent[]): Promise<void> {
  const answer = await api.ingest<{ rejected: number; results: { error?: string }[] }>('/webhook/batch', {
    events,
  });
  if (answer.rejected === 0) return;
  const reason = answer.results.find(({ error }) => error)?.error;
  throw new CommandError(`${answer.rejected} of ${events.length} events were rejected: ${reason}`);
}

/** Lets the application receive what RevenueCat and mediation tell, and forges what other stores would. Returns how to send the rest. */
async function connectSenders(api: Api, demo: Demo) {
  const path = `/v1/applications/${demo.application.id}`;
  const authorization = `Bearer ${crypto.randomUUID()}`;
  await api.team('PATCH', path, {
    ...{ revenuecat_authorization: authorization, store_fee: STORE_FEE },
    impression_template: CALLBACK_TEMPLATE,
  });
  const { intake_secret } = await api.team<{ intake_secret: string }>('POST', `${path}/intake-secret`, {});
  await sendForgedNotifications(api, intake_secret);
  return {
    tellPayment: (event: unknown) =>
      api.post(`/stores/revenuecat/${intake_secret}`, { event }, { Authorization: authorization }),
    tellImpression: (query: Record<string, string>) => api.tellImpression(intake_secret, query),
  };
}

async function simulate({ count, days, seed }: { count: number; days: number; seed: number }): Promise<void> {
  const demo = await readDemo();
  if (!demo) {
    throw new CommandError(
      `${localState().demoFile} does not exist. Run \`npm start\` first, with the same STATE_DIR.`,
    );
  }
  const api = new Api(demo);
  // The start of the minute, so that an immediate repeat sends the same events.
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const random = new Random(seed);
  const devices = simulateDevices(random, count, days, now, seed);
  const dates = Array.from({ length: days + 2 }, (_, index) =>
    new Date(now - (days + 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );

  console.log(`Sending ${count} devices of the last ${days} days (seed ${seed}) to ${demo.base_url} …`);
  await setPlayUrl(api, demo);
  await sendPostbacks(api, demo.application.id);
  const links = await createCreatives(api, demo);
  await inParallel(simulateRates(new Random(seed), dates), PARALLEL, async (rates) => {
    await api.team('PUT', '/v1/exchange-rates', rates);
  });
  await connectBefore(api, demo);
  const allCosts = simulateCosts(new Random(seed), devices);
  const costs = allCosts.filter(({ network }) => network !== FETCHED_NETWORK);
  const ads = new AdLedger();
  for (let start = 0; start < costs.length; start += COSTS_PER_REQUEST) {
    const rows = costs.slice(start, start + COSTS_PER_REQUEST);
    await api.team('PUT', '/v1/costs', { application_id: demo.application.id, rows });
  }
  // Clicks come later, and the queue has delivered the impressions once it has delivered them.
  const addresses = await showCreatives(api, devices, links, seed, now);
  const clickIds = await reportClicks(api, devices, links, now);
  const referrers = await clickLinks(api, devices, links, now);
  const metaKey = newMetaKey();
  await api.team('PATCH', `/v1/applications/${demo.application.id}`, { meta_referrer_key: metaKey });

  const { tellPayment, tellImpression } = await connectSenders(api, demo);
  const bar = new SingleBar({
    format: '{bar} {value}/{total} devices · {events} events · {eta_formatted} left',
  });
  bar.start(count, 0, { events: 0 });
  let sent = 0;
  let waiting: SimulatedEvent[] = [];
  try {
    await inParallel([...devices.entries()], PARALLEL, async ([index, device]) => {
      const { creative } = device;
      const isMeta = creative !== null && isNamedByMeta(device, now);
      const link = creative === null || isMeta ? undefined : links[creative];
      const creativeToken = await fetchToken(api, device, link, {
        referrer: isMeta ? await metaReferrer(creative, metaKey) : referrers.get(device.id),
        clickId: isMeta ? undefined : clickIds.get(device.id),
        ip: addresses.get(device.id),
      });
      const events = simulateEvents(new Random(seed + 1 + index), device, now);
      ads.add(device, events);
      const divided = divideCallbacks(events, device.id);
      waiting.push(...divided.events.map((event) => ({ ...event, creativeToken })));
      for (const callback of divided.callbacks) await tellImpression(callback);
      sent += divided.callbacks.length;
      for (const event of simulateStoreEvents(new Random(seed + 1 + index), device, events, now)) {
        await tellPayment(event);
      }
      while (waiting.length >= EVENTS_PER_REQUEST) {
        const batch = waiting.slice(0, EVENTS_PER_REQUEST);
        waiting = waiting.slice(EVENTS_PER_REQUEST);
        await sendEvents(api, batch);
        sent += batch.length;
      }
      bar.increment(1, { events: sent });
    });
    if (waiting.length > 0) await sendEvents(api, waiting);
    sent += waiting.length;
    bar.update(count, { events: sent });
  } finally {
    bar.stop();
  }
  const { timezone } = await api.team<{ timezone: string }>('GET', `/v1/applications/${demo.application.id}`);
  const fetched = allCosts.filter(({ network }) => network === FETCHED_NETWORK);
  const period = { from: dates[0] ?? '', to: dates.at(-3) ?? '' };
  await fetchReports(api, demo, { timezone, ads: ads.rows, costs: fetched }, period);
  await printTotals(api, demo, dates, sent);
}

/** Prints what the service has counted, once its figures no longer change. */
async function printTotals(api: Api, demo: Demo, dates: readonly string[], sent: number): Promise<void> {
  const query = `application_id=${demo.application.id}&from=${dates[0]}&to=${dates.at(-1)}`;
  const read = () =>
    api.team<{ totals: Record<string, number>; currency: string }>('GET', `/v1/reports/performance?${query}`);
  const deadline = Date.now() + COUNTED_WITHIN_MS;
  let before: string;
  let report = await read();
  do {
    before = JSON.stringify(report.totals);
    await new Promise((resolve) => setTimeout(resolve, COUNTED_EVERY_MS));
    report = await read();
  } while (
    Date.now() < deadline &&
    (report.totals.installs === 0 || JSON.stringify(report.totals) !== before)
  );
  const { totals, currency } = report;
  const { installs, impressions, purchases, revenue, spend } = totals;
  console.log(
    `${sent} events sent. Counted so far: ${installs} installs, ${impressions} impressions, ${purchases} purchases, ` +
      `${revenue} ${currency} revenue, ${spend} ${currency} spend.\nSee ${demo.dashboard_url}`,
  );
}

await runCommand(
  {
    usage: USAGE,
    options: { devices: { type: 'string' }, days: { type: 'string' }, seed: { type: 'string' } },
  },
  async ({ values }) =>
    simulate({
      count: readNumber('devices', values.devices, 500, 1_000_000),
      days: readNumber('days', values.days, DEFAULT_DAYS, 365),
      seed: readNumber('seed', values.seed, 1, 2 ** 31),
    }),
);
