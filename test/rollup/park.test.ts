import { expect, it } from 'vitest';
import { applicationIdOf, parkedBody } from '#rollup';

it('parks a message with everything except the hashes of addresses', () => {
  const click = { application_id: 'app_1', id: 'clk_1', os_family: 'ios', ip_hash: 'hash' };
  const { ip_hash: _, ...kept } = click;
  const body = { v: 1, events: [{ id: 'evt_1' }], clicks: [click, null, 'broken'] };
  expect(JSON.parse(parkedBody(body))).toEqual({ ...body, clicks: [kept, null, 'broken'] });
});

it.each([
  ['an empty one', undefined, ''],
  ['a text', 'broken', '"broken"'],
  ['one whose clicks are no list', { clicks: 'x' }, '{"clicks":"x"}'],
])('parks %s as it is', (_, body, text) => {
  expect(parkedBody(body)).toBe(text);
});

it.each([
  [{ application_id: 'app_1' }, 'app_1'],
  [{ events: [{ application_id: 'app_2' }, { application_id: 'app_3' }] }, 'app_2'],
  [{ events: [], clicks: [{ application_id: 'app_4' }] }, 'app_4'],
  [{ events: 'x' }, ''],
  [null, ''],
])('finds the application that %o names', (body, applicationId) => {
  expect(applicationIdOf(body)).toBe(applicationId);
});
