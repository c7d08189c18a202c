import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../src/cli/local-state.ts';
import { Configuration, type OrgSettings, registrableDomain } from '../../src/cli/org/section.ts';

// The section that `npm run org` writes for an org.

const ACME: OrgSettings = {
  org: 'acme',
  domain: 'acme.example.com',
  zone: null,
  databaseId: 'db-1',
  deployed: true,
};
type Queues = { queues: { consumers: Record<string, unknown>[] } };
const MAIL = '[[send_email]]\nname = "MAIL"\n';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'org-section-'));
  file = path.join(folder, 'wrangler.toml');
  await writeFile(file, await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes the org's section; answers it as wrangler would read it. */
async function save(settings = ACME): Promise<Record<string, unknown>> {
  const configuration = await Configuration.read(file);
  await configuration.save(configuration.withSection(settings));
  const { env } = parse(await readFile(file, 'utf8')) as { env: Record<string, Record<string, unknown>> };
  return env.acme ?? {};
}

const edit = async (change: (text: string) => string) =>
  writeFile(file, change(await readFile(file, 'utf8')));

describe('the section of an org', () => {
  it('has every binding of the top level, which sections do not inherit', async () => {
    expect(await save()).toHaveProperty('version_metadata', { binding: 'CF_VERSION_METADATA' });
  });

  it('has routes for the postbacks of Apple on the zone, which it keeps', async () => {
    const domain = { pattern: 'acme.example.com', custom_domain: true };
    expect(await save()).toMatchObject({ routes: [domain] });
    const ofApple = ['skadnetwork', 'appattribution'].map((framework) => ({
      pattern: `example.com/.well-known/${framework}/*`,
      zone_name: 'example.com',
    }));
    const withZone = { ...ACME, zone: 'example.com' };
    expect(await save(withZone)).toMatchObject({ routes: [domain, ...ofApple] });
    const configuration = await Configuration.read(file);
    expect(configuration.settingsOf('acme')).toEqual(withZone);
    expect(configuration.holds(withZone)).toBe(true);
  });

  it('has the registered domain of its domain as a variable, unless an operator chose another', async () => {
    expect(await save({ ...ACME, domain: null })).toMatchObject({ vars: { POSTBACK_DOMAIN: '' } });
    expect(await save()).toMatchObject({ vars: { POSTBACK_DOMAIN: 'example.com' } });
    await edit((text) =>
      text.replace('POSTBACK_DOMAIN = "example.com"', 'POSTBACK_DOMAIN = "postbacks.net"'),
    );
    expect(await save()).toMatchObject({ vars: { POSTBACK_DOMAIN: 'postbacks.net' } });
    const moved = { ...ACME, domain: 'acme.example.co.uk' };
    expect(await save(moved)).toMatchObject({ vars: { POSTBACK_DOMAIN: 'example.co.uk' } });
  });

  it.each([
    ['attr.example.com', 'example.com'],
    ['t.co', 't.co'],
    ['In.Attr.Example.CO.jp', 'example.co.jp'],
    // Neither has a second level that says so.
    ['attr.example.city.kawasaki.jp', 'city.kawasaki.jp'],
    ['attr.example.gub.uy', 'example.gub.uy'],
    ['com.dev', 'com.dev'],
    ['xn--bcher-kva.xn--p1ai', 'xn--bcher-kva.xn--p1ai'],
    ['co.uk', null],
    ['workers.dev', null],
    ['localhost', null],
    ['127.0.0.1', null],
  ])('finds the registered domain of %s: %s', (host, domain) => {
    expect(registrableDomain(host)).toBe(domain);
  });

  it('has no mail binding unless one is configured', async () => {
    expect(await save()).not.toHaveProperty('send_email');
  });

  it('copies the mail binding of the top level, which a section does not inherit', async () => {
    await edit((text) => text.replace('# [[send_email]]\n# name = "MAIL"\n', MAIL));
    expect(await save()).toMatchObject({ send_email: [{ name: 'MAIL' }] });
  });

  it('retries messages as often as the top level says, and keeps those that are left', async () => {
    const { queues } = parse(await readFile(path.join(ROOT, 'wrangler.toml'), 'utf8')) as unknown as Queues;
    const [events, dead] = queues.consumers;
    expect(await save()).toMatchObject({
      queues: {
        consumers: [
          { ...events, queue: 'attribution-acme-events', dead_letter_queue: 'attribution-acme-events-dead' },
          { ...dead, queue: 'attribution-acme-events-dead' },
        ],
      },
    });
  });

  const setQueues = (number: string) =>
    edit((text) =>
      text.replace(/(\[env\.acme\.vars\]\n(?:.*\n)*?)EVENT_QUEUES = .*\n/, `$1EVENT_QUEUES = "${number}"\n`),
    );

  it('has as many event queues as its variable says, each with its consumer and dead letters', async () => {
    await save();
    await setQueues('3');
    const name = 'attribution-acme-events';
    const names = [name, `${name}-1`, `${name}-2`];
    expect(await save()).toMatchObject({
      queues: {
        producers: [
          { binding: 'EVENTS', queue: names[0] },
          { binding: 'EVENTS_1', queue: names[1] },
          { binding: 'EVENTS_2', queue: names[2] },
        ],
        consumers: [
          ...names.map((queue) => ({ queue, max_retries: 20, dead_letter_queue: `${queue}-dead` })),
          ...names.map((queue) => ({ queue: `${queue}-dead`, max_retries: 100 })),
        ],
      },
    });
  });

  it('keeps the queues that it has when their number is lowered, because they may hold events', async () => {
    await save();
    await setQueues('3');
    const { queues } = await save();
    await setQueues('1');
    expect(await save()).toMatchObject({ queues, vars: { EVENT_QUEUES: '1' } });
  });

  it('forgets the last queue when an operator removes its binding', async () => {
    await save();
    await setQueues('3');
    await save();
    await setQueues('2');
    await edit((text) =>
      text.replace(/\[\[env\.acme\.queues\.producers\]\]\nbinding = "EVENTS_2"\nqueue = .*\n/, ''),
    );
    const { queues } = (await save()) as unknown as Queues & { queues: { producers: unknown[] } };
    expect([queues.producers.length, queues.consumers.length]).toEqual([2, 4]);
  });

  it('refuses a number of event queues that makes no sense', async () => {
    await save();
    await setQueues('many');
    await expect(save()).rejects.toThrow(/^EVENT_QUEUES of acme in .*wrangler\.toml is invalid: /);
  });

  it('keeps a mail binding that an operator added to it', async () => {
    await save();
    await edit((text) => text.replace('# <<< acme', '[[env.acme.send_email]]\nname = "MAIL"\n# <<< acme'));
    expect(await save()).toMatchObject({ send_email: [{ name: 'MAIL' }] });
  });

  it('keeps variables with characters that a replacement would interpret', async () => {
    await save();
    const odd = "$& $1 $$ $` $'";
    await edit((text) =>
      text.replace('[env.acme.vars]\n', () => `[env.acme.vars]\nODD = ${JSON.stringify(odd)}\n`),
    );
    expect(await save()).toMatchObject({ vars: { ODD: odd } });
    const once = await readFile(file, 'utf8');
    await save();
    expect(await readFile(file, 'utf8')).toBe(once);
    expect(once.match(/# >>> acme/g)).toHaveLength(1);
  });

  it('keeps its own rate limits and variables when it is written again, next to another org', async () => {
    const limits = (await save()).ratelimits;
    await edit((text) =>
      text.replace(/(\[env\.acme\.vars\]\n(?:.*\n)*?)TOKEN_TTL_DAYS = .*\n/, '$1TOKEN_TTL_DAYS = "77"\n'),
    );
    const configuration = await Configuration.read(file);
    await configuration.save(configuration.withSection({ ...ACME, org: 'beta', databaseId: 'db-2' }));
    const saved = await save();
    expect(saved.ratelimits).toEqual(limits);
    const { env } = parse(await readFile(file, 'utf8')) as unknown as {
      env: Record<string, { ratelimits: { namespace_id: string }[] }>;
    };
    const ids = Object.values(env).flatMap(({ ratelimits }) =>
      ratelimits.map(({ namespace_id }) => namespace_id),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
});
