import { describe, expect, it } from 'vitest';
import { publicUrlFault } from '#lib/input/public-url';

describe('a URL that something is sent to', () => {
  it.each([
    'https://hooks.slack.com/services/T0/B0/x',
    'https://example.com:8443/hook?x=1',
    'https://93.184.216.34/hook',
    'https://[2606:2800:220:1::1]/hook',
    'https://example.com:443/hook',
    'https://example.com./hook',
    'https://local.example.com/hook',
    'https://1-2.a_b.xn--p1ai/hook',
  ])('may be %s', (url) => {
    expect(publicUrlFault(url, { ports: 'from_1024' })).toBeNull();
  });

  it.each([
    'http://example.com/hook',
    'ftp://example.com',
    'no address',
    '',
    'https://user:secret@example.com/hook',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://10.1.2.3/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://localhost/',
    'https://localhost./',
    'https://db.internal/',
    'https://printer.local/',
    'https://intranet/',
    'https://127.0.0.1./',
    'https://10.0.0.1../',
    'https://localhost../',
    'https://db.internal../',
    'https://a..example.com/',
    'https://017700000001/',
    'https://router.lan/',
    'https://nas.home/',
    'https://x.home.arpa/',
    'https://home.arpa/',
    'https://x.corp/',
    'https://x.localdomain/',
    'https://x.onion/',
    'https://[::127.0.0.1]/',
    'https://[::10.0.0.1]/',
    'https://[::2]/',
    'https://[4000::1]/',
    'https://[2002:7f00:1::]/',
    'https://user@example.com/',
    'https://:secret@example.com/',
    'https://example.com:22/',
    'https://example.com:80/',
    'https://example.com:1023/',
  ])('may not be %s', (url) => {
    expect(publicUrlFault(url, { ports: 'from_1024' })).toMatch(
      /^must (be a URL that begins with https|not )/,
    );
  });

  it.each(['https://example.com:8443/hook', 'https://example.com:444/', 'https://example.com:80/'])(
    'has port 443 alone where no other is allowed: %s',
    (url) => {
      expect(publicUrlFault(url, { ports: '443' })).toMatch(/^must not have a port/);
    },
  );

  it.each(['https://example.com/hook', 'https://example.com:443/hook'])('has port 443: %s', (url) => {
    expect(publicUrlFault(url, { ports: '443' })).toBeNull();
  });

  describe('while things are tried out', () => {
    const fault = (url: string) => publicUrlFault(url, { ports: '443', allowsLocal: true });

    it.each(['http://localhost:9999/hook', 'http://127.0.0.1/', 'http://127.9.9.9:1/', 'http://[::1]:8080/'])(
      'may lead to this machine: %s',
      (url) => {
        expect(fault(url)).toBeNull();
        expect(publicUrlFault(url, { ports: '443' })).toBe('must be a URL that begins with https://');
      },
    );

    it.each([
      'http://example.com/',
      'http://10.0.0.1/',
      'http://192.168.1.1:9999/',
      'http://169.254.169.254/latest/meta-data',
      'http://0.0.0.0/',
      'http://user:secret@localhost/',
      'http://localhost.example.com/',
      'https://localhost/',
      'https://printer.local/',
      'ftp://localhost/',
    ])('may lead nowhere else: %s', (url) => {
      expect(fault(url)).not.toBeNull();
    });
  });
});
