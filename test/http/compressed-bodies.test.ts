import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { gunzip } from '#lib/encoding/deflate';
import { envelope } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { eventsIn, fetchToken, startWorker } from '../helpers/worker.ts';

const worker = startWorker();
let tenant: Tenant;
let token: string;
beforeAll(async () => {
  tenant = await createTenant();
  token = await fetchToken(worker, tenant);
  worker.queue.take();
});

const KIB = 1024;

const send = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
  worker.request(path, {
    method: 'POST',
    headers: {
      'service-api-key': tenant.apiKey,
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
      ...headers,
    },
    body,
  });

const queued = () => worker.queue.take().flatMap(({ body }) => eventsIn(body));
const zipped = (value: unknown) => gzipSync(JSON.stringify(value));
/** An event whose JSON has exactly this many bytes. */
const sized = (bytes: number) => {
  const event = envelope.ad(token, { ignored: '' });
  return { ...event, ignored: 'x'.repeat(bytes - JSON.stringify(event).length) };
};
/** Contains a thousand times as many bytes: zeros, in as many members as a body has room for. */
function bomb(): Uint8Array {
  const member = gzipSync(new Uint8Array(1024 * KIB), { level: 9 });
  const members = Math.floor((1024 * KIB) / member.length);
  const body = new Uint8Array(members * member.length);
  for (let at = 0; at < members; at++) body.set(member, at * member.length);
  return body;
}

it('accepts gzip on every ingestion endpoint', async () => {
  const metrics = {
    type: 'device-metrics',
    created_at: '2026-03-01T10:00:00Z',
    data: { device_name: 'a', device_model: 'b', os_system: 'Android 16', timezone: 'UTC' },
  };
  const bodies: [string, unknown][] = [
    ['/webhook', envelope.ad(token, {}, { ad_id: 'größer' })],
    ['/webhook/batch', { events: [envelope.ad(token), envelope.purchase(token)] }],
    ['/fetch-token', metrics],
    ['/fetch-token/batch', { devices: [metrics] }],
    ['/verify-token', { token }],
  ];
  for (const [path, body] of bodies) expect((await send(path, zipped(body))).status, path).toBe(200);
  expect(queued().map(({ type }) => type)).toEqual(['custom.ad', 'custom.ad', 'custom.purchase']);
});

it('accepts gzip in any case, streamed, and an encoding of identity', async () => {
  const body = new Blob([zipped(envelope.ad(token))]).stream();
  expect((await send('/webhook', body, { 'Content-Encoding': 'GZip' })).status).toBe(200);
  const plain = JSON.stringify(envelope.ad(token));
  expect((await send('/webhook', plain, { 'Content-Encoding': 'identity' })).status).toBe(200);
  expect(queued()).toHaveLength(2);
});

it('keeps text beyond ASCII', async () => {
  expect((await send('/webhook', zipped(envelope.ad(token, {}, { ad_id: 'größer 大' })))).status).toBe(200);
  expect(queued()).toMatchObject([{ ad_id: 'größer 大' }]);
});

describe('the limit of a body', () => {
  it('applies to what a compressed body contains', async () => {
    for (const bytes of [40, 41, 63, 64])
      expect((await send('/webhook', zipped(sized(bytes * KIB)))).status, `${bytes} KiB`).toBe(200);
    const refused = await send('/webhook', zipped(sized(64 * KIB + 1)));
    expect([refused.status, await refused.json()]).toEqual([
      413,
      { success: false, error: 'The body is larger than 64 KiB' },
    ]);
    const batch = (kib: number) => ({ events: [sized(kib * KIB - '{"events":[]}'.length)] });
    for (const kib of [512, 700, 1000, 1024])
      expect((await send('/webhook/batch', zipped(batch(kib)))).status, `${kib} KiB`).toBe(200);
    expect((await send('/webhook/batch', zipped(batch(1025)))).status).toBe(413);
    expect(queued()).toHaveLength(8);
  });

  it('bounds the memory that inflating takes', () => {
    const body = gzipSync(new Uint8Array(16 * 1024 * KIB));
    const refuse = (kib: number) => {
      try {
        return gunzip(body, kib * KIB).length;
      } catch (error) {
        return error;
      }
    };
    // The runtime's own refusal, before all is inflated, and not the check of the length afterwards.
    for (const kib of [64, 1024]) {
      expect(refuse(kib)).toBeInstanceOf(RangeError);
      expect(refuse(kib)).not.toMatchObject({ message: 'The content is too large' });
    }
  });

  it('stops inflating where it is reached', async () => {
    const body = bomb();
    expect(body.length).toBeGreaterThan(1000 * KIB);
    for (const path of ['/webhook/batch', '/fetch-token/batch']) {
      expect((await send(path, body)).status).toBe(413);
    }
  });

  it('does not inflate the body of an unknown key', async () => {
    const headers = { 'service-api-key': 'appkey_unknown' };
    expect((await send('/webhook', 'no gzip', headers)).status).toBe(401);
  });
});

describe('a body is refused with', () => {
  it.each([
    ['no gzip', () => 'no gzip'],
    ['half of it', () => zipped(envelope.ad(token)).subarray(0, 60)],
    ['a changed byte', () => zipped(envelope.ad(token)).map((byte, at) => (at === 40 ? byte ^ 255 : byte))],
    ['nothing', () => new Uint8Array()],
  ])('400: %s', async (_, body) => {
    const answer = await send('/webhook', body());
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ details: [{ message: 'The body is not valid gzip' }] });
  });

  it('400: gzip without JSON in it', async () => {
    const answer = await send('/webhook', gzipSync('[1'));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'The body is not valid JSON' });
  });

  it.each(['br', 'deflate', 'zstd', 'gzip, gzip', 'x'])('415: the encoding %s', async (encoding) => {
    const answer = await send('/webhook', zipped(envelope.ad(token)), { 'Content-Encoding': encoding });
    expect([answer.status, await answer.json()]).toEqual([
      415,
      { success: false, error: `The Content-Encoding must be gzip or absent, not ${encoding}` },
    ]);
    expect(answer.headers.get('Accept-Encoding')).toBe('gzip');
  });

  it.each([
    ['iso-8859-1', 'application/json; charset=iso-8859-1'],
    ['Windows-1252', 'application/json;charset="Windows-1252"'],
    ['utf-16', 'application/json; v=1; charset=utf-16'],
  ])('415: the charset %s', async (charset, type) => {
    const body = JSON.stringify(envelope.ad(token));
    const answer = await send('/webhook', body, { 'Content-Encoding': 'identity', 'Content-Type': type });
    expect([answer.status, await answer.json()]).toEqual([
      415,
      { success: false, error: `The charset must be UTF-8, not ${charset}` },
    ]);
  });

  const LATIN_1 = Uint8Array.from(JSON.stringify(envelope.ad('', {}, { ad_id: 'gr\xf6\xdfer' })), (sign) =>
    sign.charCodeAt(0),
  );
  it.each([
    ['Latin-1', 'identity', LATIN_1],
    ['Latin-1 in gzip', 'gzip', gzipSync(LATIN_1)],
    ['half a character', 'identity', new TextEncoder().encode('{"a":"大"}').subarray(0, 7)],
  ])('400: an unlabelled body in %s', async (_, encoding, body) => {
    for (const path of ['/webhook', '/webhook/batch', '/fetch-token', '/verify-token']) {
      const answer = await send(path, body, { 'Content-Encoding': encoding });
      expect(answer.status, path).toBe(400);
      expect(await answer.json()).toMatchObject({ details: [{ message: 'The body is not valid UTF-8' }] });
    }
    expect(queued()).toEqual([]);
  });

  it('nothing else: a byte order mark and a replacement character are UTF-8', async () => {
    const body = `\ufeff${JSON.stringify(envelope.ad(token, {}, { ad_id: 'a\ufffdb' }))}`;
    expect((await send('/webhook', body, { 'Content-Encoding': 'identity' })).status).toBe(200);
    expect(queued()).toMatchObject([{ ad_id: 'a\ufffdb' }]);
  });

  it('nothing else: UTF-8 may be named', async () => {
    for (const charset of ['utf-8', 'UTF-8', '"utf8"']) {
      const headers = { 'Content-Type': `application/json; charset=${charset}` };
      expect((await send('/webhook', zipped(envelope.ad(token)), headers)).status, charset).toBe(200);
    }
  });
});

it('answers the team API alike', async () => {
  const headers = { 'Service-Token': tenant.teamToken, 'Content-Type': 'application/json' };
  const ask = (encoding: string, body: BodyInit) =>
    worker.request('/v1/applications', {
      method: 'POST',
      headers: { ...headers, 'Content-Encoding': encoding },
      body,
    });
  expect((await ask('gzip', zipped({ name: 'Compressed' }))).status).toBe(201);
  const refused = await ask('br', zipped({ name: 'Compressed' }));
  expect([refused.status, await refused.json()]).toEqual([
    415,
    { message: 'The Content-Encoding must be gzip or absent, not br' },
  ]);
});
