import { expect, it } from 'vitest';
import { registrableDomain } from '../../src/dashboard/pages/skan/registrable-domain.ts';

it.each([
  ['attr.example.com', 'example.com'],
  ['example.io', 'example.io'],
  ['t.co', 't.co'],
  ['In.Attr.Example.CO.jp', 'example.co.jp'],
  ['example.com.au', 'example.com.au'],
  ['com.dev', 'com.dev'],
  ['xn--bcher-kva.xn--p1ai', 'xn--bcher-kva.xn--p1ai'],
  ['co.uk', null],
  ['attr.team.workers.dev', null],
  ['localhost', null],
  ['127.0.0.1', null],
  ['[::1]', null],
])('finds the domain of %s: %s', (host, domain) => {
  expect(registrableDomain(host)).toBe(domain);
});
