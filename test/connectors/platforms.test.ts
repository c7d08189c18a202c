import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Fetch } from '#lib/input/fetch';
import { fromNanos } from '#lib/money';
import { PLATFORMS } from '../../src/connectors/platforms.ts';
import { sumByNetwork } from '../../src/connectors/report-file.ts';
import { answerFetch, strictly } from '../helpers/strict-fetch.ts';

// Answers in the form that the platforms document, with invented figures.

const MAX_CSV = `Date,Ad Unit ID,Ad Unit Name,Waterfall,Ad Format,Placement,Country,Device Type,IDFA,IDFV,User ID,Revenue,Ad Placement,Network,Custom Data
2026-03-02 15:53:07.39,a1,"Level end, rewarded",Default,REWARD,,us,PHONE,,,u1,0.0125,p1,UNITY_BIDDING,
2026-03-02 15:54:01.02,a1,"Say ""hi""",Default,REWARD,,de,PHONE,,,u2,0.01,p1,Unity Ads,
2026-03-02 15:55:11.70,a2,Banner,Default,BANNER,,us,PHONE,,,u1,-1,p2,AppLovin,
2026-03-02 15:56:11.70,a2,Banner,Default,BANNER,,us,PHONE,,,u1,0.000000123,p2,AppLovin,"{""a"":1}"
`;
const LEVELPLAY_CSV = `event_timestamp,advertising_id,ad_unit,placement,segment,ad_network,instance_name,country,ab_testing,precision,encrypted_cpm,revenue
1772400000,,banner,home,,ironSource,Bidding,US,,BID,,0.002
1772400060,,banner,home,,Facebook Bidding,Bidding,US,,BID,,0.5
`;

const gzip = async (text: string) =>
  new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();

/** Answers requests by the beginning of their address, and keeps them. */
function answering(answers: Record<string, () => Response | Promise<Response>>) {
  const requests: { url: URL; headers: Headers; redirect: string | undefined }[] = [];
  const fetcher: Fetch = strictly(async (url, init) => {
    requests.push({ url: new URL(url), headers: new Headers(init.headers), redirect: init.redirect });
    const [, answer] = Object.entries(answers).find(([start]) => url.startsWith(start)) ?? [];
    if (!answer) throw new Error(`nobody answers ${url}`);
    if ((init.method ?? 'GET') !== 'GET') return new Response(null, { status: 405 });
    return answer();
  });
  return { fetcher, requests };
}

const shown = (sums: Awaited<ReturnType<typeof sumByNetwork>>) =>
  [...sums].map(([network, { impressions, nanos }]) => [network, impressions, fromNanos(nanos)]).sort();

const MAX_REQUEST = {
  settings: { application: 'com.example.game', platform: 'android' },
  credentials: { report_key: 'r&k' },
  day: '2026-03-02',
};
const LEVELPLAY_REQUEST = {
  settings: { app_key: '19b' },
  credentials: { secret_key: 's', refresh_token: 'r' },
  day: '2026-03-02',
};
const S3 = 'https://reports.s3.amazonaws.com/report.csv?signed=1';
const named = (more: object) => () => Response.json({ status: 200, ...more });

it('reads the report of MAX, in which a negative amount is unknown', async () => {
  const { fetcher, requests } = answering({
    'https://r.applovin.com/': named({ ad_revenue_report_url: S3, url: 'https://r.test/other' }),
    [S3]: () => new Response(MAX_CSV),
  });
  expect(shown(await PLATFORMS.max.read(MAX_REQUEST, fetcher))).toEqual([
    ['applovin', 2, 0.000000123],
    ['unity_ads', 2, 0.0225],
  ]);
  expect(requests.map(({ url }) => `${url.origin}${url.pathname}`)).toEqual([
    'https://r.applovin.com/max/userAdRevenueReport',
    'https://reports.s3.amazonaws.com/report.csv',
  ]);
  expect(Object.fromEntries(requests[0]?.url.searchParams ?? [])).toEqual({
    api_key: 'r&k',
    date: '2026-03-02',
    platform: 'android',
    application: 'com.example.game',
    aggregated: 'false',
  });
});

it('reads the files of LevelPlay, which are compressed', async () => {
  const { fetcher, requests } = answering({
    'https://platform.ironsrc.com/partners/publisher/auth': () => new Response('"the.jwt"'),
    'https://platform.ironsrc.com/partners/adRevenueMeasurements/v4': () =>
      Response.json({ urls: [S3, `${S3}&2`] }),
    [S3]: async () => new Response(await gzip(LEVELPLAY_CSV)),
  });
  expect(shown(await PLATFORMS.levelplay.read(LEVELPLAY_REQUEST, fetcher))).toEqual([
    ['ironsource', 2, 0.004],
    ['meta', 2, 1],
  ]);
  expect(requests[0]?.headers.get('secretkey')).toBe('s');
  expect(requests[0]?.headers.get('refreshToken')).toBe('r');
  expect(requests[1]?.headers.get('Authorization')).toBe('Bearer the.jwt');
  expect(requests[1]?.url.search).toBe('?appKey=19b&date=2026-03-02');
  expect(requests[2]?.headers.get('Authorization')).toBeNull();
});

it('takes a day without data as empty', async () => {
  for (const answer of [
    () => new Response('Data does not exist', { status: 404 }),
    () => new Response('No Mediation App Id found', { status: 404 }),
    () => new Response(null, { status: 204 }),
  ]) {
    const { fetcher } = answering({ 'https://r.applovin.com/': answer });
    expect(shown(await PLATFORMS.max.read(MAX_REQUEST, fetcher))).toEqual([]);
  }
});

it.each<[string, () => Response, string]>([
  [
    'a wrong key',
    () => new Response('Invalid api key', { status: 401 }),
    'AppLovin answered 401: Invalid api key',
  ],
  [
    'an unknown address',
    () => new Response('Not found', { status: 404 }),
    'AppLovin answered 404: Not found',
  ],
  ['a redirect', () => Response.redirect('https://elsewhere.test', 302), 'AppLovin answered 302'],
  ['no JSON', () => new Response('<html>'), 'AppLovin answered something else than its documentation says'],
  ['no report', named({}), 'AppLovin answered something else than its documentation says'],
])('says what is wrong with %s, never with the key', async (_, answer, reason) => {
  const { fetcher } = answering({ 'https://r.applovin.com/': answer });
  const failure = await PLATFORMS.max.read(MAX_REQUEST, fetcher).catch((error: Error) => error.message);
  expect(failure).toBe(reason);
  expect(failure).not.toContain('r&k');
});

describe('the address of a report', () => {
  const isPrivate = 'must not be a private or local address';
  const refusals: [string, string][] = [
    ['reports', 'must be a URL that begins with https://'],
    ['http://reports.example.com/a.csv', 'must be a URL that begins with https://'],
    ['https://reports.example.com:8443/a.csv', 'must not have a port other than 443'],
    ['https://u:p@reports.example.com/a.csv', 'must not contain a user name or password'],
    ['https://127.0.0.1/a.csv', isPrivate],
    ['https://[::ffff:10.0.0.1]/a.csv', isPrivate],
    ['https://metadata.internal/a.csv', isPrivate],
    ['https://private-report.example.com/a.csv', 'must not lead to a private or local address'],
  ];
  const read = (address: string, file?: () => Response) => {
    const { fetcher, requests } = answering({
      'https://r.applovin.com/': named({ ad_revenue_report_url: address }),
      'https://platform.ironsrc.com/partners/publisher/auth': () => new Response('jwt'),
      'https://platform.ironsrc.com/partners/adRevenueMeasurements/v4': () =>
        Response.json({ urls: [address] }),
      ...(file ? { [address]: file } : {}),
    });
    const asked = {
      max: () => PLATFORMS.max.read(MAX_REQUEST, fetcher),
      levelplay: () => PLATFORMS.levelplay.read(LEVELPLAY_REQUEST, fetcher),
    };
    return { asked, requests };
  };
  afterEach(() => vi.restoreAllMocks());

  it.each(refusals)('%s is refused before anything is sent there', async (address, fault) => {
    answerFetch(async () => Response.json({ Answer: [{ data: '192.168.1.7' }] }));
    const { asked, requests } = read(address);
    await expect(asked.max()).rejects.toThrow(`AppLovin named a report whose address ${fault}`);
    await expect(asked.levelplay()).rejects.toThrow(`LevelPlay named a report whose address ${fault}`);
    expect(requests.map(({ url }) => url.hostname)).toEqual([
      'r.applovin.com',
      'platform.ironsrc.com',
      'platform.ironsrc.com',
    ]);
  });

  it('may not redirect', async () => {
    const { asked, requests } = read(S3, () => Response.redirect('https://elsewhere.test', 302));
    await expect(asked.max()).rejects.toThrow('the report of AppLovin answered 302');
    await expect(asked.levelplay()).rejects.toThrow('the report of LevelPlay answered 302');
    expect(new Set(requests.map(({ redirect }) => redirect))).toEqual(new Set(['manual']));
  });
});

it.each([
  ['Date,Network\n2026,a', 'the report has no column revenue'],
  ['Date,Revenue\n2026,1', 'the report has no column network'],
  ['Network,Revenue\na,much', 'the report has a revenue that is not a number'],
  ['x'.repeat(100_001), 'the report has a line that is too long'],
])('refuses a report such as %.40j', async (text, reason) => {
  const { body } = new Response(text);
  await expect(body && sumByNetwork(body)).rejects.toThrow(reason);
});

it('sums a report however it is cut into chunks', async () => {
  const row = fc.record({
    network: fc.constantFrom('AppLovin', 'Unity Ads', 'a "b", c', 'ü'),
    micros: fc.integer({ min: 0, max: 5_000_000 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row),
      fc.integer({ min: 1, max: 40 }),
      fc.boolean(),
      async (rows, size, compressed) => {
        const lines = rows.map(({ network, micros }) => `"${network.replaceAll('"', '""')}",${micros / 1e6}`);
        const text = ['Network,Revenue', ...lines].join('\r\n');
        const bytes = compressed ? new Uint8Array(await gzip(text)) : new TextEncoder().encode(text);
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
            controller.close();
          },
        });
        const sums = await sumByNetwork(body);
        const total = rows.reduce((sum, { micros }) => sum + BigInt(micros) * 1_000n, 0n);
        expect([...sums.values()].reduce((sum, { nanos }) => sum + nanos, 0n)).toBe(total);
        expect([...sums.values()].reduce((sum, { impressions }) => sum + impressions, 0)).toBe(rows.length);
      },
    ),
  );
});
