import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isolate } from '#lib/input/isolate';

const [FSI, PDI] = ['\u2068', '\u2069'];

it.each([
  ['Summer sale (US) – 50%', 'Summer sale (US) – 50%'],
  ['夏のセール', '夏のセール'],
  ['', ''],
  ['إعلان 1', `${FSI}إعلان 1${PDI}`],
  ['Sale קיץ', `${FSI}Sale קיץ${PDI}`],
  // An override would turn the rest of the sentence.
  ['\u202Esdrawkcab', `${FSI}\u202Esdrawkcab${PDI}`],
  // Phoenician, outside the basic plane.
  ['\u{10900}', `${FSI}\u{10900}${PDI}`],
])('isolates “%s” only if it may turn what is around it', (name, text) => {
  expect(isolate(name)).toBe(text);
});

it('ends with what it began, whatever is in the name', () => {
  const part = fc.constantFrom('a', 'א', 'م', '\u2066', '\u2067', FSI, PDI, '\u202B', ' ', '(');
  fc.assert(
    fc.property(fc.string({ unit: part }), (name) => {
      const marks = [...isolate(name)].filter((character) => /[\u2066-\u2069]/.test(character)).join('');
      expect(['', FSI + PDI]).toContain(marks);
    }),
  );
});
