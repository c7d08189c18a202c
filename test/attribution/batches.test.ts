import { beforeEach, describe, expect, it } from 'vitest';
import { ANDROID_AGENT, ANDROID_METRICS, follow, STORES } from '../helpers/clicks.ts';
import { createCreative } from '../helpers/creatives.ts';
import { deviceMetrics } from '../helpers/envelopes.ts';
import { createTenant, type Tenant } from '../helpers/tenant.ts';
import { startWorker } from '../helpers/worker.ts';

// Devices that come in one batch are attributed as if they had come one after the other.

const worker = startWorker();
const IP = '203.0.113.9';
let tenant: Tenant;
let path: string;

beforeEach(async () => {
  tenant = await createTenant(STORES);
  ({ path } = await createCreative(worker, tenant));
});

async function click() {
  const { clickId, publicId, messages } = await follow(worker, path, ANDROID_AGENT, IP);
  await worker.deliver(messages);
  return { id: clickId, publicId };
}

/** What is sent of a device: a debug build's or a person's, which looks like the click or names it. */
type Sent = { test?: boolean; names?: string };
type Explained = {
  method: string;
  click_id: string | null;
  earlier_installs: number;
  doubts?: { rule: string }[];
};

const bodyOf = ({ test, names }: Sent) =>
  deviceMetrics(
    { ...ANDROID_METRICS, ip: IP, ...(names ? { click_id: names } : {}) },
    { created_at: new Date().toISOString(), ...(test ? { dev: true } : {}) },
  );

const explain = async (token: string): Promise<Explained> =>
  (await worker.team(tenant, `/v1/devices/${token}/attribution`)).json();

const WAYS = {
  'in one batch': async (devices: readonly Sent[]): Promise<string[]> => {
    const answer = await worker.post(tenant, '/fetch-token/batch', { devices: devices.map(bodyOf) });
    const { results } = await answer.json<{ results: { token: string }[] }>();
    return results.map(({ token }) => token);
  },
  'one after the other': async (devices: readonly Sent[]): Promise<string[]> => {
    const tokens: string[] = [];
    for (const device of devices) {
      const answer = await worker.post(tenant, '/fetch-token', bodyOf(device));
      tokens.push((await answer.json<{ token: string }>()).token);
    }
    return tokens;
  },
};

const GUESSED = ['probabilistic', 0, []];
const NAMED = ['click_id', 0, []];
const NONE = ['organic', 0, []];
const REPEATED = (earlier: number) => ['click_id', earlier, ['repeated_click']];

/** Each device of a case, and what becomes of it: its method, how many named its click before, and the doubts about that. */
const CASES: [string, [kind: 'guess' | 'name' | 'test guess' | 'test name', expected: unknown][]][] = [
  [
    'a click is guessed for the first device',
    [
      ['guess', GUESSED],
      ['guess', NONE],
    ],
  ],
  [
    'a test build takes no guess away',
    [
      ['test guess', GUESSED],
      ['guess', GUESSED],
      ['guess', NONE],
    ],
  ],
  [
    'nor a named click',
    [
      ['test name', NAMED],
      ['name', NAMED],
      ['name', REPEATED(1)],
    ],
  ],
  [
    'nor the guess for one that names it',
    [
      ['test name', NAMED],
      ['guess', GUESSED],
    ],
  ],
  [
    'a guess is no name',
    [
      ['guess', GUESSED],
      ['name', NAMED],
      ['name', REPEATED(1)],
    ],
  ],
  [
    'each name is counted',
    [
      ['name', NAMED],
      ['name', REPEATED(1)],
      ['name', REPEATED(2)],
      ['guess', NONE],
    ],
  ],
  [
    'a test build between people',
    [
      ['name', NAMED],
      ['test name', ['click_id', 1, []]],
      ['name', REPEATED(1)],
    ],
  ],
];

describe.each(Object.keys(WAYS) as (keyof typeof WAYS)[])('devices %s', (way) => {
  it.each(CASES)('%s', async (_, devices) => {
    const { id, publicId } = await click();
    const sent = devices.map(([kind]) => ({
      test: kind.startsWith('test'),
      ...(kind.endsWith('name') ? { names: publicId } : {}),
    }));
    const tokens = await WAYS[way](sent);
    const explained = await Promise.all(tokens.map(explain));
    expect(
      explained.map(({ method, earlier_installs, doubts = [] }) => [
        method,
        earlier_installs,
        doubts.map(({ rule }) => rule).filter((rule) => rule === 'repeated_click'),
      ]),
    ).toEqual(devices.map(([, expected]) => expected));
    for (const { method, click_id } of explained) expect(click_id).toBe(method === 'organic' ? null : id);
  });
});
