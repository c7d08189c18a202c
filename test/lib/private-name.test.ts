import { afterEach, describe, expect, it, vi } from 'vitest';
import { privateNameFault } from '#lib/input/private-name';
import { answerFetch } from '../helpers/strict-fetch.ts';

const FAULT = 'must not lead to a private or local address';
let number = 0;
/** A name that was not asked for before: answers are remembered. */
const fresh = () => new URL(`https://host-${number++}.example.com/path`);

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('the name of a host', () => {
  it.each([
    [['93.184.216.34'], null],
    [['93.184.216.34', '2606:2800:220:1::1'], null],
    [[], null],
    [['10.0.0.1'], FAULT],
    [['93.184.216.34', '127.0.0.1'], FAULT],
    [['169.254.169.254'], FAULT],
    [['fd00::1'], FAULT],
    [['::ffff:192.168.0.1'], FAULT],
  ])('with the addresses %j', async (addresses, fault) => {
    expect(await privateNameFault(fresh(), async () => addresses)).toBe(fault);
  });

  it.each(['https://93.184.216.34/', 'https://[2606:2800:220:1::1]/', 'http://localhost:8787/'])(
    'is not asked for in %s',
    async (url) => {
      const resolve = vi.fn(async () => ['10.0.0.1']);
      expect(await privateNameFault(new URL(url), resolve)).toBeNull();
      expect(resolve).not.toHaveBeenCalled();
    },
  );

  it('is asked for once in 5 minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const url = fresh();
    const resolve = vi.fn(async () => ['93.184.216.34']);
    await privateNameFault(url, resolve);
    vi.advanceTimersByTime(299_000);
    await privateNameFault(url, resolve);
    expect(resolve).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(2_000);
    await privateNameFault(url, resolve);
    expect(resolve).toHaveBeenCalledTimes(2);
  });

  it('is resolved over HTTPS, through its aliases', async () => {
    const asked: string[] = [];
    answerFetch(async (url) => {
      asked.push(String(url));
      const data = String(url).endsWith('AAAA')
        ? []
        : [{ data: 'inside.example.net.' }, { data: '192.168.1.7' }];
      return Response.json({ Status: 0, Answer: data });
    });
    const url = fresh();
    expect(await privateNameFault(url)).toBe(FAULT);
    expect(asked).toEqual([
      `https://cloudflare-dns.com/dns-query?name=${url.hostname}&type=A`,
      `https://cloudflare-dns.com/dns-query?name=${url.hostname}&type=AAAA`,
    ]);
  });

  it.each([
    ['no answer', async () => Promise.reject(new Error('connection lost'))],
    ['an error', async () => new Response('', { status: 503 })],
    ['something else', async () => Response.json(['x'])],
  ])('may be anything with %s', async (_, answer) => {
    answerFetch(answer);
    expect(await privateNameFault(fresh())).toBeNull();
  });
});
