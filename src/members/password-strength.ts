// Refuses passwords that guessing programs try first. Own rules with a short list instead of zxcvbn: its dictionaries are as large as
// half of this service, and most of their entries are shorter than the 12 characters that a password has here. Pure.

/** Words and beginnings of keyboard rows that common passwords are put together from. */
const COMMON = `
1q2w3e4r 1qaz 2wsx 3edc access account admin administrator america amour andrew angel anthony apple arsenal ashley asdf asdfgh august autumn
babygirl bailey barcelona baseball basketball batman beautiful blahblah bonjour boston buster butterfly changeme changeit charlie cheese
chelsea chester chicken chocolate christmas cocacola college company computer cookie cowboys daniel database december default demo dragon eagles
england facebook family fender ferrari flower football forever formula france freedom friday friend friends gandalf general
ginger god google guest guitar hallo hammer hannah hannover harley heaven hello hockey hola holiday hunter iloveu iloveyou internet jackson
january jasmine jennifer jessica jesus jordan joshua julia july june justin killer kitty knight lakers letmein liverpool login london lovely love
loveme lover madison maggie manager march marina marine martin master matrix matthew melissa mercedes merlin michael michelle mickey midnight mine
monday money monkey monster mother mustang mynoob mypassword myspace nicole nothing november october office oliver orange pass passphrase passw0rd
passwd password passwort patrick peanut pepper phoenix player please pokemon porsche pretty princess private purple qazwsx qwer qwert
qwerty qwertyuiop qwertz ranger realmadrid rainbow root robert samantha samsung samurai saturday scooter secret secure security september server service shadow
silver slipknot snoopy snowball soccer spiderman spring starwars steelers steven strong summer sunday sunshine superman superstar support system
taylor temp tennis test teste tester testing thomas thunder thursday tigger toyota trustno1 tuesday user username vanessa victoria wednesday
welcome whatever william willkommen windows winter wizard work yamaha yankees yellow zaq1 zxcv zxcvbn zxcvbnm
`
  .trim()
  .split(/\s+/);

const KEYBOARD = ['`1234567890-=', 'qwertyuiop[]', "asdfghjkl;'", 'zxcvbnm,./', 'qwertzuiop', 'azertyuiop'];
const SEQUENCES = ['abcdefghijklmnopqrstuvwxyz', '01234567890', ...KEYBOARD].flatMap((row) => [
  row,
  [...row].reverse().join(''),
]);
const MIN_SEQUENCE = 3;
const MIN_OWN_WORD = 3;

/** What has to remain when each common word, sequence, year and repetition counts as one character. */
const MIN_REMAINING = 8;

const LOOKALIKES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};
const withoutLookalikes = (text: string) => text.replace(/[013457@$!]/g, (char) => LOOKALIKES[char] ?? char);

/** A text as a whole, and its words. */
const wordsOf = (text: string) =>
  [text.toLowerCase(), ...text.toLowerCase().split(/[^\p{L}\p{N}]+/u)].filter(
    (word) => word.length >= MIN_OWN_WORD,
  );

const YEAR = /^(?:19|20)\d\d$/;

const isSequence = (text: string) =>
  text.length >= MIN_SEQUENCE && SEQUENCES.some((row) => row.includes(text));

/** How many characters of a lower-case text are left when each predictable part counts as one, and repetitions as none. */
function remainingOf(text: string, words: readonly string[]): number {
  const plain = withoutLookalikes(text);
  /** By length: the least that is left of the text's beginning. */
  const least = [0];
  for (let end = 1; end <= text.length; end++) {
    const leastAt = (length: number) => least[length] ?? length;
    let left = leastAt(end - 1) + 1;
    for (let start = 0; start < end; start++) {
      const part = text.slice(start, end);
      if (isSequence(part) || YEAR.test(part)) left = Math.min(left, leastAt(start) + 1);
      // A repetition of what is right before it.
      if (text.endsWith(part, start)) left = Math.min(left, leastAt(start));
    }
    for (const word of words) {
      const isHere = text.endsWith(word, end) || plain.endsWith(word, end);
      if (isHere) left = Math.min(left, leastAt(end - word.length) + 1);
    }
    least.push(left);
  }
  return least[text.length] ?? 0;
}

/** Why a password is too easy to guess; null if it is not. `own` is what is known about the person: name, email, team. */
export function passwordFault(password: string, own: readonly string[]): string | null {
  const text = password.normalize('NFKC').toLowerCase();
  if (remainingOf(text, COMMON) < MIN_REMAINING) {
    return 'is too easy to guess: it consists of common words, sequences or repetitions';
  }
  if (remainingOf(text, [...COMMON, ...own.flatMap(wordsOf)]) < MIN_REMAINING) {
    return 'is too easy to guess: it contains your name, email or team and little else';
  }
  return null;
}
