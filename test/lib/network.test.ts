import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressIn, networkOf } from '#lib/network';

it.each([
  ['203.0.113.9', '203.0.113.9'],
  [' 203.0.113.9 ', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:aaaa:bbbb:cccc:dddd', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2'],
  ['2001:DB8:1:2::', '2001:db8:1:2'],
  ['2001:db8:1:3::1', '2001:db8:1:3'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
  ['::ffff:cb00:7109', '203.0.113.9'],
  ['64:ff9b::203.0.113.9', '203.0.113.9'],
  ['::203.0.113.9', '203.0.113.9'],
  ['256.1.1.1', null],
  ['1.2.3', null],
  ['01.2.3.4', null],
  ['0x1.2.3.4', null],
  ['unknown', null],
  ['1.2.3.4.', null],
  ['1:2:3', null],
  ['1::2::3', null],
  ['1:2:3:4:5:6:7:8:9', null],
  ['hello', null],
  ['', null],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it('is the same for two IPv6 addresses if their first 64 bits are, however they are written', () => {
  const half = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 });
  // Mapped IPv4 addresses are the only others that begin with 64 zeros.
  const network = half.filter((groups) => groups.some((group) => group > 0));
  const written = (groups: readonly number[]) =>
    groups.map((group) => group.toString(16).padStart(4, '0').toUpperCase()).join(':');
  fc.assert(
    fc.property(network, network, half, half, (one, other, left, right) => {
      const own = networkOf(written([...one, ...left]));
      expect(own).toBe(networkOf(`${one.map((group) => group.toString(16)).join(':')}:${written(right)}`));
      expect(own === networkOf(written([...other, ...left]))).toBe(written(one) === written(other));
    }),
  );
});

it.each([
  ['198.51.100.8', '198.51.100.8'],
  ['198.51.100.8:51234', '198.51.100.8'],
  ['198.51.100.8/32', '198.51.100.8'],
  ['"198.51.100.8"', '198.51.100.8'],
  ["'198.51.100.8:80'", '198.51.100.8'],
  ['198.51.100.8, 203.0.113.9', '198.51.100.8'],
  ['10.0.0.1, 198.51.100.8', '198.51.100.8'],
  ['unknown, 100.64.0.1, 192.168.1.1,198.51.100.8', '198.51.100.8'],
  ['fd00::1, 2001:db8::1', '2001:db8::1'],
  ['10.0.0.1, 192.168.1.1', '10.0.0.1'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['for="[2001:db8::1]:4711";proto=https', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['[fe80::1%eth0]:80', 'fe80::1%eth0'],
  ['2001:db8::1/64', '2001:db8::1'],
  ['[2001:db8::1]/128', '2001:db8::1'],
  ['[::ffff:198.51.100.8]:443', '::ffff:198.51.100.8'],
  ['10.0.0.1 198.51.100.8', '198.51.100.8'],
  ['10.0.0.1|198.51.100.8', '198.51.100.8'],
  ['::ffff:10.0.0.1, 64:ff9b::198.51.100.8', '64:ff9b::198.51.100.8'],
  ['198.51.100.8\r\n', '198.51.100.8'],
  ['Forwarded: by=10.0.0.1;for="198.51.100.8:80"', '198.51.100.8'],
  ['["10.0.0.1","198.51.100.8"]', '198.51.100.8'],
  ['(198.51.100.8)', '198.51.100.8'],
  ['ip=198.51.100.8', '198.51.100.8'],
  ['0.0.0.0, 198.51.100.8', '198.51.100.8'],
  ['0.0.0.0', null],
  ['::', null],
  ['198.51.100', null],
  ['198.51.100.8:x', null],
  ['[2001:db8::1', null],
  ['', null],
])('the address in %s is %s', (text, address) => {
  expect(addressIn(text)).toBe(address);
});
