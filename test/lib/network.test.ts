import { expect, it } from 'vitest';
import { networkOf } from '#lib/network';

it.each([
  ['192.0.2.8', '192.0.2.8'],
  ['::ffff:192.0.2.8', '192.0.2.8'],
  ['unknown', 'unknown'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
