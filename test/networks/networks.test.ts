import { expect, it } from 'vitest';
import { valueName } from '#catalogue';
import {
  CLICK_ID_PARAMETERS,
  LINK_PARAMETERS,
  linkFor,
  MEDIA_SOURCE_NAMES,
  NETWORKS,
  serverLinksFor,
} from '#networks';
import { clickParams } from '../../src/tracking/click-details.ts';
import { parseQuery, queryOf } from '../../src/tracking/query.ts';

const LINK = 'https://attr.example.com/t/q3VbYt0GmLxwZ2nEq3VbYt';
const MAX_CLICK_PARAMS = 20;
const queryEntries = (link: string) => Object.fromEntries(queryOf(link));

it('has each network once, under values of media_source of its own', () => {
  const values = NETWORKS.flatMap(({ id, aliases }) => [id, ...Object.keys(aliases)]);
  expect(values).toHaveLength(new Set(values).size);
  expect(values.filter((value) => !/^[a-z_]+$/.test(value))).toEqual([]);
  expect(Object.keys(MEDIA_SOURCE_NAMES).sort()).toEqual([...values].sort());
  // The values that SDKs send.
  for (const sent of ['admob', 'unity_ads', 'applovin', 'ironsource', 'meta_an', 'vungle']) {
    expect(values).toContain(sent);
  }
});

it.each([
  ['unity_ads', 'Unity Ads'],
  ['unityads', 'Unity Ads'],
  ['meta_an', 'Meta'],
  ['max', 'AppLovin MAX'],
  ['levelplay', 'LevelPlay'],
  ['apple_ads', 'Apple Ads'],
  ['chartboost', 'Chartboost'],
  ['something_new', 'something_new'],
])('names the media source %s', (value, name) => {
  expect(valueName('media_source', value)).toBe(name);
});

it.each(NETWORKS)('is complete and has a source: $name', ({ roles, sources, notes, unverified, macros }) => {
  expect(roles.length).toBeGreaterThan(0);
  expect(sources.filter((source) => !URL.canParse(source))).toEqual([]);
  expect(sources.length).toBeGreaterThan(0);
  expect([...notes, ...unverified].filter((text) => !/^\S.*\.$/.test(text))).toEqual([]);
  if (macros === null || Object.keys(macros).length === 0) expect([...notes, ...unverified]).not.toEqual([]);
});

const linked = NETWORKS.filter(({ macros }) => macros !== null);

it.each(linked)('fills its macros into a link, which keeps every parameter: $name', (network) => {
  const link = linkFor(network, LINK) ?? '';
  const query = queryOf(link);
  const macros = Object.entries(network.macros ?? {});
  expect(link.startsWith(`${LINK}?network=${network.id}`)).toBe(true);
  for (const [name, macro] of macros) expect(link).toContain(`${name}=${macro}`);
  const known: readonly string[] = [...LINK_PARAMETERS, ...network.clickIds];
  expect(macros.map(([name]) => name).filter((name) => !known.includes(name))).toEqual([]);
  expect(query.length).toBeLessThan(MAX_CLICK_PARAMS);
  const filled = query.map(([name, value]) => [name, name === 'network' ? value : `own ${name}`] as const);
  expect(clickParams(filled)).toEqual(Object.fromEntries(filled));
  expect(filled.map(([name]) => name).sort()).toEqual(['network', ...macros.map(([name]) => name)].sort());
  // What the network did not replace says nothing.
  expect(clickParams(query)).toEqual({ network: network.id });
  // A macro must not end the query, nor look like another parameter.
  expect(macros.filter(([, macro]) => /[#&=?\s]/.test(macro))).toEqual([]);
});

it('fills the macros of the device into the links for servers', () => {
  const click = `${LINK}?s2s=secret`;
  const links = { click, impression: `${click}&event=impression` };
  const filled = NETWORKS.flatMap((network) => {
    const own = serverLinksFor(network, links);
    return own ? [{ network, own }] : [];
  });
  expect(filled.map(({ network }) => network.id)).toEqual(['mintegral']);
  for (const { network, own } of filled) {
    for (const kind of ['click', 'impression'] as const) {
      expect(own[kind].startsWith(`${links[kind]}&network=${network.id}&`)).toBe(true);
      const told = {
        ...queryEntries(links[kind]),
        network: network.id,
        ...network.macros,
        ...network.serverMacros,
      };
      expect(queryEntries(own[kind])).toEqual(told);
      expect(queryOf(own[kind]).length).toBeLessThan(MAX_CLICK_PARAMS);
    }
  }
});

it('offers no link for networks whose ads take none, and adds to a query that is there', () => {
  const names = NETWORKS.filter((network) => linkFor(network, LINK) === null).map(({ id }) => id);
  expect(names).toEqual(['apple_ads', 'vungle', 'admob']);
  const [first] = linked;
  expect(first && linkFor(first, `${LINK}?a=1`)).toMatch(/\?a=1&network=/);
});

it('keeps the click ids of networks, however many parameters precede them', () => {
  const others = Array.from({ length: 30 }, (_, index) => `p${index}=${index}`).join('&');
  const ids = [...CLICK_ID_PARAMETERS].slice(0, 15);
  const kept = clickParams(parseQuery(`${others}&${ids.map((id) => `${id}=x`).join('&')}`));
  expect(Object.keys(kept)).toEqual([...ids, 'p0', 'p1', 'p2', 'p3', 'p4']);
});
