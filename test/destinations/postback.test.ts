import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NETWORKS } from '#networks';
import type { DestinationSetup, OutboundEvent } from '#networks/outbound';
import { postback } from '../../src/destinations/postback.ts';
import { inHeader, inUrl, MACROS } from '../../src/destinations/template.ts';
import { outboundEvent, requestOf } from './events.ts';

type Settings = Record<string, string>;
const URL_OF = 'https://example.com/postback';

const setup = (settings: Settings, secret?: string): DestinationSetup => ({
  settings: { method: 'GET', url: URL_OF, ...settings },
  credentials: secret === undefined ? {} : { secret },
  secrets: [],
  isTest: false,
});
const request = (settings: Settings, event: Partial<OutboundEvent> = {}, secret?: string) =>
  requestOf(postback.prepare(outboundEvent(event), setup(settings, secret), 0));
const skipped = async (settings: Settings, event: Partial<OutboundEvent> = {}) => {
  const prepared = await postback.prepare(outboundEvent(event), setup(settings), 0);
  return 'skipped' in prepared ? prepared.skipped : null;
};

describe('a template', () => {
  it('is filled with what the event has', async () => {
    const { method, url, headers, body } = await request({
      url: `${URL_OF}/{os}/{event_type}?click={click.fbclid}&v={value}&m={value_micros}&c={currency}&t={event_time}&id={event_id}`,
    });
    expect([method, body, headers]).toEqual(['GET', null, {}]);
    expect(url).toBe(
      `${URL_OF}/android/purchase?click=abc&v=4.99&m=4990000&c=EUR&t=1774612800&id=${outboundEvent().id}`,
    );
  });

  it.each([
    [
      { body: '{"v":{value},"n":"{campaign}","none":{value_micros?}}' },
      '{"v":4.99,"n":"Spring","none":4990000}',
    ],
    [{ body: '{"v":{value?},"n":"{property.x?}"}' }, '{"v":null,"n":""}', { value: null }],
    [
      {
        body: 'v={value}&n={campaign}',
        headers: 'content-type: application/x-www-form-urlencoded; charset=utf-8',
      },
      'v=4.99&n=Two%20words%20%26%20more',
      {
        attribution: {
          ...outboundEvent().attribution,
          campaign: { id: 'c', name: 'Two words & more' },
        } as never,
      },
    ],
  ] as [Settings, string, Partial<OutboundEvent>?][])(
    'writes the body %o',
    async (settings, expected, event) => {
      const { body, headers } = await request({ method: 'POST', ...settings }, event);
      expect(body).toBe(expected);
      expect(new Headers(headers).get('Content-Type')).toBe(
        settings.headers?.slice(14) ?? 'application/json',
      );
    },
  );

  it.each([
    ['{click.gamer_id}', {}],
    ['{value}', { value: null }],
    ['{campaign}', { attribution: null }],
    ['{device_id_sha256}', { deviceId: null }],
    ['{advertising_id}', { consent: { limitAdTracking: true, attStatus: null, adUserData: null } }],
    ['{advertising_id}', { consent: { limitAdTracking: null, attStatus: 'denied', adUserData: null } }],
    ['{vendor_id}', { vendorId: 'V', consent: { limitAdTracking: true, attStatus: null, adUserData: null } }],
    ['{idfa}', {}],
    ['{os}', { os: '' }],
  ] as [string, Partial<OutboundEvent>][])('with %s skips an event without it', async (macro, event) => {
    expect(await skipped({ url: `${URL_OF}?x=${macro}` }, event)).toBe(`The event has no ${macro}`);
    expect((await request({ url: `${URL_OF}?x=${macro.replace('}', '?}')}` }, event)).url).toBe(
      `${URL_OF}?x=`,
    );
  });

  it('skips an event of a person who does not consent to sharing data', async () => {
    const consent = { limitAdTracking: null, attStatus: null, adUserData: false };
    expect(await skipped({}, { consent })).toMatch(/ad_user_data/);
    expect(await skipped({}, { consent: { ...consent, adUserData: true } })).toBeNull();
  });

  it.each(['.', '..', '%2e%2E'])('skips an event whose value would change the path: %s', async (name) => {
    const event = { attribution: { ...outboundEvent().attribution, campaign: { id: 'c', name } } as never };
    const prepared = await postback.prepare(
      outboundEvent(event),
      setup({ url: `${URL_OF}/{campaign}/x` }),
      0,
    );
    // A percent sign is escaped itself, so the last one is harmless.
    if (name === '%2e%2E') expect(prepared).toMatchObject({ url: `${URL_OF}/%252e%252E/x` });
    else expect(prepared).toEqual({ skipped: 'A value would change the path of the URL' });
  });

  it('says whether an ad is credited, and whether one of a network', async () => {
    const read = async (event: Partial<OutboundEvent>) =>
      (await request({ url: `${URL_OF}?a={attributed}&m={attributed.meta}&u={attributed.unity_ads}` }, event))
        .url;
    expect(await read({})).toBe(`${URL_OF}?a=1&m=1&u=0`);
    expect(await read({ attribution: null })).toBe(`${URL_OF}?a=0&m=0&u=0`);
  });

  it('puts the credential where the template has it, and never shows it', async () => {
    const made = await request(
      {
        method: 'POST',
        url: `${URL_OF}?key={secret}`,
        headers: 'Authorization: Bearer {secret}\nX-Event: {event_type}',
        body: '{"key":"{secret}","event":"{event_type}"}',
      },
      {},
      'hunter2 "&"',
    );
    expect(made.url).toBe(`${URL_OF}?key=hunter2%20%22%26%22`);
    expect(made.headers).toMatchObject({ Authorization: 'Bearer hunter2 "&"', 'X-Event': 'purchase' });
    expect(JSON.parse(made.body ?? '')).toEqual({ key: 'hunter2 "&"', event: 'purchase' });
    expect(JSON.stringify(made.shown)).not.toContain('hunter2');
    expect(made.shown).toMatchObject({ url: `${URL_OF}?key=***`, body: '{"key":"***","event":"purchase"}' });
    expect(await skipped({ url: `${URL_OF}?key={secret}` })).toMatch(/\{secret\}/);
  });
});

describe('the settings of a template', () => {
  const faults = (settings: Settings) =>
    (postback.settings.safeParse({ method: 'POST', url: URL_OF, ...settings }).error?.issues ?? []).map(
      ({ path, message }) => `${path.join('.')} ${message}`,
    );

  it.each<[Settings]>([
    [{ url: `${URL_OF}/{os}?id={event_id}&g={click.gamer_id?}` }],
    [{ method: 'put', body: '{"a":{"b":[{value},{event_time_ms}]},"c":"{ not a macro }"}' }],
    [{ headers: 'X-Key: {secret}\r\n\r\nX-Two: b' }],
    [{ headers: 'Content-Type: application/x-www-form-urlencoded', body: 'a={value?}' }],
  ])('may be %o', (settings) => {
    expect(faults(settings)).toEqual([]);
  });

  it.each<[Settings, string]>([
    [{ url: `${URL_OF}?x={clik.id}` }, 'url has an unknown macro {clik.id}'],
    [{ url: `${URL_OF}?x={constructor}` }, 'url has an unknown macro {constructor}'],
    [{ url: `${URL_OF}?x={os.version}` }, 'url has {os.version}, but {os} takes nothing after a dot'],
    [{ url: `${URL_OF}?x={click}` }, 'url has {click} without the parameter of the click, as in {click.abc}'],
    [
      { body: '{"ip":"{click.ip}"}' },
      'body has {click.ip}, which names an address, a browser or an id of a device, which is never sent',
    ],
    [
      { url: 'https://{campaign}.example.com/' },
      'url must name its host: macros may stand in the path and the query',
    ],
    [{ url: 'https://{os}/' }, 'url must name its host: macros may stand in the path and the query'],
    [{ url: `${URL_OF}#{os}` }, 'url must not have a fragment (#)'],
    [{ url: `${URL_OF}/../{os}` }, 'url must not have . or .. in its path'],
    [{ url: 'https://example.com/games/<game id>/install' }, 'url has <game id>: put your own value there'],
    [{ url: 'example.com' }, 'url must be a URL'],
    [{ method: 'DELETE' }, 'method must be one of GET, POST, PUT'],
    [{ method: 'GET', body: '{}' }, 'body must be empty, as GET has no body'],
    [{ body: '{"a":{country}}' }, 'body must have {country} in quotes, as it may be text'],
    [{ body: '{"a":{secret}}' }, 'body must have {secret} in quotes, as it may be text'],
    [{ body: '{"a":"{os}"' }, 'body must be JSON'],
    [
      { headers: 'Content-Type: text/xml', body: '<a/>' },
      'body needs a Content-Type of application/json or application/x-www-form-urlencoded',
    ],
    [{ headers: 'no header' }, 'headers must have one header a line, as Name: value'],
    [{ headers: 'Host: example.org' }, 'headers must not set Host'],
    [{ headers: 'X-Forwarded-For: {click.x}' }, 'headers must not set X-Forwarded-For'],
    [{ headers: 'X-A: 1\nx-a: 2' }, 'headers must have x-a once'],
    [{ headers: 'X-A: ü' }, 'headers must be of ASCII characters: X-A'],
    [{ url: '' }, 'url is required'],
  ])('may not be %o', (settings, fault) => {
    expect(faults(settings)).toEqual([fault]);
  });
});

describe('escaping', () => {
  const withName = (name: string) =>
    ({
      attribution: { ...outboundEvent().attribution, campaign: { id: 'c', name } },
    }) as Partial<OutboundEvent>;
  // Anything that a name may be stored as: not empty, without a NUL.
  const names = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((name) => name.isWellFormed() && !name.includes('\0'));

  it('gives a value back as it was, wherever it stands, and nothing else of the request changes', async () => {
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const made = await request(
          {
            method: 'POST',
            url: `${URL_OF}/x{campaign}?a=1&n={campaign}&z=2`,
            headers: 'X-Name: <{campaign}>',
            body: '{"n":"{campaign}","z":2}',
          },
          withName(name),
        );
        const url = new URL(made.url);
        expect([...url.searchParams]).toEqual([
          ['a', '1'],
          ['n', name],
          ['z', '2'],
        ]);
        expect(url.hash).toBe('');
        expect(decodeURIComponent(url.pathname)).toBe(`/postback/x${name}`);
        expect(decodeURIComponent(made.headers['X-Name'] ?? '')).toBe(`<${name}>`);
        expect(() => new Headers(made.headers)).not.toThrow();
        expect(JSON.parse(made.body ?? '')).toEqual({ n: name, z: 2 });
      }),
    );
  });

  it('leaves no character that has a meaning where it stands', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(inUrl(text)).toMatch(/^(?:[\w.~-]|%[\dA-F]{2})*$/);
        expect(inHeader(text)).toMatch(/^[\x21-\x7e]*$/);
      }),
    );
  });
});

it('has a test event for every macro', async () => {
  const event = outboundEvent({ vendorId: 'V', os: 'ios', ad: { network: 'admob', format: 'banner' } });
  const full = {
    ...event,
    properties: { abc: '1' },
    attribution: { ...event.attribution, click: { abc: '2' } } as never,
  };
  const ofConsent = {
    ...full,
    consent: { limitAdTracking: null, attStatus: 'authorized', adUserData: true } as const,
  };
  for (const [name, { argument, isArgumentOptional }] of Object.entries(MACROS)) {
    const macro = argument === undefined || isArgumentOptional ? `{${name}}` : `{${name}.abc}`;
    const of = name === 'gaid' ? { ...ofConsent, os: 'android' } : ofConsent;
    expect(await skipped({ url: `${URL_OF}?x=${macro}` }, of), macro).toBeNull();
  }
});

describe.each(NETWORKS.filter(({ postback: preset }) => preset))(
  'the preset of $name',
  ({ postback: preset, clickIds }) => {
    const settings = (url: string) => ({ method: preset?.method ?? '', url });
    const url = preset?.url ?? '';

    it('is refused until what stands in angle brackets is replaced', () => {
      const read = (text: string) => postback.settings.safeParse(settings(text)).error?.issues[0]?.message;
      expect(read(url.replaceAll(/<[^>]*>/g, '1234'))).toBeUndefined();
      if (url.includes('<')) expect(read(url)).toMatch(/put your own value there/);
    });

    it('takes click ids that the network passes, and says what is not verified', () => {
      const parameters = [...url.matchAll(/\{click\.(\w+)/g)].map(([, name]) => name);
      expect(parameters.length).toBeGreaterThan(0);
      expect(parameters.filter((name) => !clickIds.includes(name ?? ''))).toEqual([]);
      expect(preset?.unverified).toMatch(/^Nobody has sent this to /);
      expect(URL.canParse(preset?.source ?? '')).toBe(true);
    });
  },
);

it("sends Unity the IDFA in upper case, Google's id in lower case, and whether the install is its own", async () => {
  const url = NETWORKS.find(({ id }) => id === 'unity_ads')?.postback?.url.replace('<game ID>', '1234') ?? '';
  const attribution = {
    ...outboundEvent().attribution,
    network: 'unity_ads',
    click: { gamer_id: 'g-1' },
  } as never;
  const read = async (event: Partial<OutboundEvent>) =>
    (await request({ url }, { type: 'install', ...event })).url;
  const base = 'https://postback.unityads.unity3d.com/games/1234/install?advertisingTrackingId=';
  expect(await read({ attribution, os: 'ios' })).toBe(
    `${base}CDDA802E-FB9C-47AD-9866-0794D394C912&gamerId=g-1&attributed=1`,
  );
  expect(await read({ attribution: null })).toBe(
    `${base}cdda802e-fb9c-47ad-9866-0794d394c912&gamerId=&attributed=0`,
  );
});

describe('the host of a template', () => {
  const faultOf = (url: string) => {
    const parsed = postback.settings.safeParse({ method: 'GET', url });
    return parsed.success ? null : parsed.error.issues.map(({ message }) => message).join('; ');
  };

  it.each([
    'https:/{click.h}/x',
    'https:{click.h}/x',
    'https:\\\\{click.h}/x',
    'https:\\{click.h}/x',
    'https:///{click.h}/x',
    'https:////{click.h?}/x',
    'https://\t{click.h}/x',
    'https:\n//{click.h}/x',
    'https:/\t/{click.h}/x',
    'ht\ntps://{click.h}/x',
    '//{click.h}/x',
    '{click.h}://example.com/x',
    '{click.h}',
    '{click.h?}https://example.com/x',
    'https{click.h}://example.com/x',
    'https://{click.h}@example.com/x',
    'https://user:{click.h}@example.com/x',
    'https://{secret}@example.com/x',
    'https://example.com@{click.h}/x',
    'https://example.com{click.h}/x',
    'https://example.com{click.h?}',
    'https://{click.h}.example.com/x',
    'https://example.com:{click.h}/x',
    'https://example.com:443{click.h}/x',
    'https://example.com\\@{click.h}/x',
    'https://example.com\\{click.h}',
  ])('is refused in %j', (url) => {
    expect(faultOf(url)).not.toBeNull();
  });

  it('is none of an event, whatever a template of an earlier release says', async () => {
    const { attribution } = outboundEvent();
    const event = outboundEvent({ attribution: { ...attribution, click: { h: 'evil.example' } } as never });
    for (const url of ['https:/{click.h}/x', 'https:{click.h}/x', 'https:\\\\{click.h}/x']) {
      expect(await postback.prepare(event, setup({ url }), 0)).toEqual({
        skipped: 'A value would change the host of the URL',
      });
    }
  });

  it('is the same for every event, of every template that is taken', async () => {
    const piece = fc.constantFrom(
      ...['https:', 'http:', '/', '//', '\\', '\t', '\n', '@', ':', '?', '.', '443', 'example.com', 'x'],
      ...['{click.h}', '{click.h?}', '{os}', '{secret}', '%2f', '[', ']', ' '],
    );
    const value = fc.oneof(
      fc.constantFrom('', '@evil.example', 'evil.example', '/evil.example', ':1', '..', '\\\\evil.example'),
      fc.string(),
    );
    const template = fc.oneof(
      fc.array(piece, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
      fc.array(piece, { maxLength: 6 }).map((parts) => `https:/${parts.join('')}`),
      fc.array(piece, { maxLength: 6 }).map((parts) => `https://example.com${parts.join('')}`),
    );
    const sentTo = async (url: string, h: string) => {
      const { attribution } = outboundEvent();
      const event = outboundEvent({ attribution: { ...attribution, click: { h } } as never });
      const prepared = await postback.prepare(event, setup({ url }, h.replaceAll(/[^ -~]/g, '')), 0);
      if ('skipped' in prepared) return null;
      const { protocol, username, password, host } = new URL(prepared.url);
      return [protocol, username, password, host].join(' ');
    };
    await fc.assert(
      fc.asyncProperty(template, value, value, async (url, one, other) => {
        if (faultOf(url) !== null) return;
        const hosts = await Promise.all([sentTo(url, one), sentTo(url, other), sentTo(url, 'a')]);
        expect(new Set(hosts.filter((host) => host !== null)).size).toBeLessThanOrEqual(1);
      }),
    );
  });
});
