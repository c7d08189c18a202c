import { expect, it } from 'vitest';
import { readUserAgent } from '../../src/tracking/user-agent.ts';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const FROZEN =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36';

it.each([
  [`${IPHONE} Version/17.4.1 Mobile/15E148 Safari/604.1`, 'ios', '17.4.1', null],
  [`${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/450.0;FBDV/iPhone15,4]`, 'ios', '17.4.1', null],
  [`${FROZEN} Version/26.3.1 Mobile/15E148 Safari/604.1`, 'ios', '26.3.1', null],
  [`${FROZEN} Version/18.6 Mobile/15E148 Safari/604.1`, 'ios', '18.6', null],
  [`${FROZEN} Mobile/15E148 [FBAN/FBIOS;FBAV/450.0]`, 'ios', '18.6', null],
  [`${IPHONE} Version/26.0 Mobile/15E148 Safari/604.1`, 'ios', '17.4.1', null],
  ['Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15', 'ios', '16.6', null],
  [`Mozilla/5.0 (Linux; Android 10; K) ${CHROME}`, 'android', null, null],
  [`Mozilla/5.0 (Linux; Android 14; SM-S911B) ${CHROME}`, 'android', '14', 'SM-S911B'],
  [
    `Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/AP4A.250105.002; wv) ${CHROME}`,
    'android',
    '15',
    'Pixel 9',
  ],
  ['Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0', 'android', '14', null],
  [
    'Mozilla/5.0 (Linux; U; Android 4.4.2; en-us; SM-T530 Build/KOT49H) Safari/534.30',
    'android',
    '4.4.2',
    null,
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/130.0.0.0 Safari/537.36', 'windows', null, null],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Safari/605.1.15',
    'macos',
    null,
    null,
  ],
  ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0.0.0', 'linux', null, null],
  ['Mozilla/5.0 (iPhone; U; CPU like Mac OS X; en) AppleWebKit/420+', 'ios', null, null],
  ['Dalvik/2.1.0 (Linux; U; Android 14', 'android', '14', null],
  ['Mozilla/5.0 (Linux; Android 14; SM-S911B', 'android', '14', 'SM-S911B'],
  [`Mozilla/5.0 (Linux; Android 14; ${'x'.repeat(129)})`, 'android', '14', null],
  [`Mozilla/5.0 (Linux; Android 14; ${'x'.repeat(128)})`, 'android', '14', 'x'.repeat(128)],
  [`Mozilla/5.0 (Linux; Android ${'1'.repeat(40)}; Pixel 8)`, 'android', '1111', 'Pixel 8'],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS ${'1'.repeat(40)} like Mac OS X)`, 'ios', '1111', null],
  ['something', 'other', null, null],
])('reads %s', (userAgent, osFamily, osVersion, deviceModel) => {
  expect(readUserAgent(userAgent)).toMatchObject({ osFamily, osVersion, deviceModel });
});

it('reads only the first 512 characters of a user agent', () => {
  const within = (text: string, chars: number) => text.padStart(chars, '-');
  expect(readUserAgent(within('Windows NT', 512)).osFamily).toBe('windows');
  expect(readUserAgent(within('Windows NT', 513)).osFamily).toBe('other');
  expect(readUserAgent(within('Android 14; Pixel 8) Chrome', 519))).toMatchObject({
    osFamily: 'android',
    osVersion: '14',
    deviceModel: 'Pixel 8',
  });
  expect(readUserAgent(within('Android 14; Pixel 8)', 514)).deviceModel).toBe('Pixel');
  const browser = `Mozilla/5.0 (Linux; Android 14) ${CHROME}`.padEnd(500, ' ');
  expect(readUserAgent(`${browser} Googlebot`).isRobot).toBe(true);
  expect(readUserAgent(`${browser}${' '.repeat(12)}Googlebot`).isRobot).toBe(false);
  expect(readUserAgent(`${' '.repeat(512)}${browser}`).isRobot).toBe(true);
});

it.each([
  ['Android; Android; ', 'android'],
  ['(iPhone', 'ios'],
  ['(iPhone OS 17_', 'ios'],
])('reads 100 KB of "%s" like its first 512 characters', (part, osFamily) => {
  const userAgent = part.repeat(100_000 / part.length);
  expect(readUserAgent(userAgent)).toEqual(readUserAgent(userAgent.slice(0, 512)));
  expect(readUserAgent(userAgent).osFamily).toBe(osFamily);
});

it.each([
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'WhatsApp/2.23.20.0',
  'Twitterbot/1.0',
  'TelegramBot (like TwitterBot)',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'curl/8.5.0',
  '',
  ' ',
])('recognises "%s" as a robot', (userAgent) => {
  expect(readUserAgent(userAgent).isRobot).toBe(true);
});

it.each([
  `${IPHONE} Version/17.4.1 Mobile/15E148 Safari/604.1`,
  `${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/450.0;FBDV/iPhone15,4]`,
  `${IPHONE} Mobile/15E148 Instagram 300.0.0.0`,
  `Mozilla/5.0 (Linux; Android 10; K) ${CHROME}`,
  `Mozilla/5.0 (Linux; Android 14; SM-S911B; wv) Version/4.0 ${CHROME} [FB_IAB/FB4A;FBAV/450.0]`,
])('recognises "%s" as a person', (userAgent) => {
  expect(readUserAgent(userAgent).isRobot).toBe(false);
});

it('reads a repeated user agent as it did first, whatever came in between', () => {
  const userAgent = `${IPHONE} Version/17.4.1 Mobile/15E148 Safari/604.1`;
  const first = readUserAgent(userAgent);
  expect(readUserAgent(userAgent)).toEqual(first);
  for (let other = 0; other < 2_500; other++)
    readUserAgent(`Mozilla/5.0 (Linux; Android 14; Pixel ${other})`);
  expect(readUserAgent(userAgent)).toEqual(first);
  expect(readUserAgent('Mozilla/5.0 (Linux; Android 14; Pixel 2499)').deviceModel).toBe('Pixel 2499');
});
