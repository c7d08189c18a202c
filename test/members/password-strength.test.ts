import fc from 'fast-check';
import { expect, it } from 'vitest';
import { passwordFault } from '../../src/members/password-strength.ts';

const OWN = ['Ann O’Malley-Smith', 'ann.malley@rocketgames.example', 'Rocket Games'];
const COMMON = 'is too easy to guess: it consists of common words, sequences or repetitions';
const PERSONAL = 'is too easy to guess: it contains your name, email or team and little else';

it.each([
  'aaaaaaaaaaaa',
  'abababababab',
  'aB3$aB3$aB3$',
  'xkcdq!xkcdq!xkcdq!',
  'abcdefghijkl',
  'zyxwvutsrqponm',
  '123456789012',
  '0987654321098',
  'qwertyuiop[]',
  'qwertzuiop123',
  'asdfghjkl;12',
  'qazwsxqazwsx',
  '1q2w3e4r1q2w',
  'Password123!',
  'P@ssw0rd2026',
  'p4$$w0rdp4$$w0rd',
  'PASSWORDpassword',
  'iloveyou1234',
  'letmeinplease',
  'Summer2026!!',
  'Winter2025Winter',
  'welcomewelcome1',
  'admin1234567',
  'changeme12345',
  'ｐａｓｓｗｏｒｄ１２３４',
  ' '.repeat(12),
])('refuses %s', (password) => {
  expect(passwordFault(password, OWN)).toBe(COMMON);
});

it.each(['annmalley1990', 'Rocketgames2026', 'ann.malley@rocketgames', 'smithsmith12!', 'R0cketG@mes1!'])(
  'refuses %s, for whom it says who they are',
  (password) => {
    expect(passwordFault(password, OWN)).toBe(PERSONAL);
    expect(passwordFault('correct horse battery', OWN)).toBeNull();
  },
);

it.each([
  'correct horse battery',
  'another long password',
  'x7Kp2mQ9vL4z',
  'tr0ub4dor&3xyzzy',
  'die Katze tanzt allein',
  '猫がひとりで静かに踊っている夜',
  '839274650192',
])('accepts %s', (password) => {
  expect(passwordFault(password, OWN)).toBeNull();
});

it('accepts random passwords of 16 letters and digits, with anything said about the person', () => {
  const chars = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';
  const random = fc
    .array(fc.constantFrom(...chars), { minLength: 16, maxLength: 16 })
    .map((all) => all.join(''));
  const distinct = random.filter((text) => new Set(text.toLowerCase()).size >= 11);
  fc.assert(fc.property(distinct, (password) => passwordFault(password, OWN) === null));
});

it('refuses whatever is repeated to the length of a password', () => {
  const unit = fc.string({ minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(unit, fc.integer({ min: 12, max: 20 }), (text, times) => {
      expect(passwordFault(text.repeat(times), [])).toBe(COMMON);
    }),
  );
});
