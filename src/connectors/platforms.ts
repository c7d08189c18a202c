import * as z from 'zod';
import { oneOf, requiredText } from '#http';
import { exactJsonOrNull } from '#lib/encoding/exact-json';
import type { Fetch } from '#lib/input/fetch';
import { receiverFault } from '#lib/input/private-name';
import { readText } from '#lib/input/read-text';
import { type ReportDescription, type ReportFault, refusal } from '#networks/costs';
import { type NetworkSums, sumByNetwork } from './report-file.ts';

/** What is known of a platform's report, as data and a function of its answers. */
export type Platform = ReportDescription & {
  /** The hour of the next day, in UTC, from which the report of a day is there. */
  readyHour: number;
  /** How many days may still change, yesterday included. */
  revisedDays: number;
  /** The sums of a day (UTC); empty if the platform has no data of it. Throws with what the platform says is wrong. */
  read: (
    request: { settings: Record<string, string>; credentials: Record<string, string>; day: string },
    fetcher: Fetch,
  ) => Promise<NetworkSums>;
};

const TIMEOUT_MS = 60_000;
const MAX_REASON = 200;
/** Of an answer beside the reports themselves: a token, or their addresses. */
const MAX_ANSWER_BYTES = 256 * 1024;

const get = (fetcher: Fetch, url: string, headers: Record<string, string> = {}) =>
  fetcher(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });

/** Never the address, which may have a key. */
const refusalOf = async (what: string, answer: Response): Promise<ReportFault> =>
  refusal(what, {
    status: answer.status,
    text: (await readText(answer.body, MAX_ANSWER_BYTES)).text,
    retryAfterSeconds: null,
  });

async function readFile(
  fetcher: Fetch,
  what: string,
  address: string,
  sums?: NetworkSums,
): Promise<NetworkSums> {
  const fault = await receiverFault(address, { ports: '443' });
  if (fault) throw new Error(`${what} named a report whose address ${fault}`);
  const file = await get(fetcher, address);
  if (!file.ok || !file.body) throw await refusalOf(`the report of ${what}`, file);
  return sumByNetwork(file.body, sums);
}

async function readJson<Schema extends z.ZodType>(answer: Response, schema: Schema, what: string) {
  const { text } = await readText(answer.body, MAX_ANSWER_BYTES);
  const read = schema.safeParse(exactJsonOrNull(text));
  if (!read.success) throw new Error(`${what} answered something else than its documentation says`);
  return read.data;
}

const secret = () => requiredText(512);

const max: Platform = {
  label: 'AppLovin MAX',
  readyHour: 8,
  revisedDays: 2,
  maxDaysBack: 45,
  settings: z.object({
    application: requiredText(255),
    platform: oneOf(['android', 'ios', 'fireos']),
  }),
  credentials: z.object({ report_key: secret() }),
  labels: {
    application: 'Package name or bundle ID',
    platform: 'Platform: android, ios or fireos',
    report_key: 'Report key',
  },
  notes: ['A row for each impression, ready at 08:00 UTC of the next day.'],
  unverified: ['Nobody has run it against a live account.'],
  sources: ['https://developers.applovin.com/en/max/reporting-apis/user-level-ad-revenue-api'],
  async read({ settings, credentials, day }, fetcher) {
    const what = 'AppLovin';
    const query = new URLSearchParams({
      api_key: credentials.report_key ?? '',
      date: day,
      platform: settings.platform ?? '',
      application: settings.application ?? '',
      aggregated: 'false',
    });
    const answer = await get(fetcher, `https://r.applovin.com/max/userAdRevenueReport?${query}`);
    // A day or an app without impressions is a 404 or a 204, too.
    if (answer.status === 204) return new Map();
    if (answer.status === 404) {
      const { text } = await readText(answer.body, MAX_ANSWER_BYTES);
      if (/Data does not exist|No Mediation App Id found/i.test(text)) return new Map();
      throw new Error(`${what} answered 404: ${text.slice(0, MAX_REASON)}`);
    }
    if (!answer.ok) throw await refusalOf(what, answer);
    const read = await readJson(answer, z.looseObject({ ad_revenue_report_url: z.string() }), what);
    return readFile(fetcher, what, read.ad_revenue_report_url);
  },
};

const MAX_FILES = 100;

const levelplay: Platform = {
  label: 'Unity LevelPlay',
  readyHour: 10,
  revisedDays: 2,
  maxDaysBack: 14,
  settings: z.object({ app_key: requiredText(64) }),
  credentials: z.object({ secret_key: secret(), refresh_token: secret() }),
  labels: { app_key: 'App key', secret_key: 'Secret key', refresh_token: 'Refresh token' },
  notes: ['A row for each impression, ready at 10:00 UTC of the next day and final after two days.'],
  unverified: ['Nobody has run it against a live account.'],
  sources: ['https://docs.unity.com/grow/en-us/levelplay/platform/api/impression-level-revenue-server-side'],
  async read({ settings, credentials, day }, fetcher) {
    const what = 'LevelPlay';
    const base = 'https://platform.ironsrc.com/partners';
    const signIn = await get(fetcher, `${base}/publisher/auth`, {
      secretkey: credentials.secret_key ?? '',
      refreshToken: credentials.refresh_token ?? '',
    });
    if (!signIn.ok) throw await refusalOf(`${what} sign-in`, signIn);
    const { text: signed } = await readText(signIn.body, MAX_ANSWER_BYTES);
    const token = signed.replaceAll('"', '').trim();
    const query = new URLSearchParams({ appKey: settings.app_key ?? '', date: day });
    const answer = await get(fetcher, `${base}/adRevenueMeasurements/v4?${query}`, {
      Authorization: `Bearer ${token}`,
    });
    if (!answer.ok) throw await refusalOf(what, answer);
    const { urls } = await readJson(
      answer,
      z.looseObject({ urls: z.array(z.string()).max(MAX_FILES) }),
      what,
    );
    const sums: NetworkSums = new Map();
    for (const url of urls) await readFile(fetcher, what, url, sums);
    return sums;
  },
};

/** The reports of ad revenue that are known, by platform. */
export const PLATFORMS = { max, levelplay } as const satisfies Record<string, Platform>;
