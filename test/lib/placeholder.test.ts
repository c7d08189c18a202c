import { describe, expect, it } from 'vitest';
import { placeholderId, placeholderName } from '#lib/input/placeholder';

const WORDS = [
  ...['null', 'NULL', 'Null', 'undefined', 'nil', 'None', 'NaN', 'n/a', 'N/A', '#N/A', 'unknown', 'UNKNOWN'],
  ...[
    '(null)',
    '<null>',
    '<nil>',
    '[null]',
    '"null"',
    "'undefined'",
    '(not set)',
    '(none)',
    '(not provided)',
    '\u200Bnull',
    'null\u2060',
    'ｎｕｌｌ',
  ],
  ...['[object Object]', '[object Undefined]', '{}', '[]', '""', '()', '-', '--', '?', '{ }', '\\N'],
];
const ID_WORDS = [
  ...['0', '000', '-1', 'NA', 'true', 'false', '0.0.0.0', '000000000000000', '00:00:00:00:00:00'],
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-0000-0000-000000000000}',
  '00000000000000000000000000000000',
  'urn:uuid:00000000-0000-0000-0000-000000000000',
  ...['null_null', 'undefined-undefined', 'null:0', '(0)', '{0}'],
];
const SHARED = [
  ...['9774d56d682e549c', '9774D56D682E549C', '02:00:00:00:00:00', '020000000000'],
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  '9f89c84a559f573636a47ff8daed0d33',
  'D41D8CD98F00B204E9800998ECF8427E',
];
const MACROS = [
  '&lt;id&gt;',
  ...[
    '{gclid}',
    '{ gclid }',
    '{{fbclid}}',
    '{{ campaign.name }}',
    '{{{x}}}',
    '[click_id]',
    '[[CLICK-ID]]',
    '__CLICKID__',
  ],
  ...[
    '__CAMPAIGN_NAME__',
    '%%click_id%%',
    '%gclid%',
    ['$', '{CLICK_ID}'].join(''),
    '#{x}',
    '%{bid_id}',
    '$x$',
    '$$x$$',
  ],
  ...['<x>', '<click_id>', '<<x>>', '<%= x %>', '@@x@@', '@x@', '((x))', '$(x)', '~x~', '~~x~~', '#x#'],
  ...['|x|', '*|CLICK|*', '{1}', '{request.id}', '{ifmobile:yes}', '%7Bgclid%7D', '%7B%7Bfbclid%7D%7D'],
  ...['__CAMPAIGN__-__AID__', '{campaignid}_{adgroupid}', '%%a%%%%b%%', '{{a}} {{b}}'],
];
const REAL = [
  ...[
    'none-of-your-business',
    'Null Island',
    'nullable',
    'unknown-1',
    'n',
    'x',
    '10',
    '0a',
    '9774d56d682e549d',
  ],
  ...['[US] Campaign', '{Brand} Summer', 'Summer {campaign}', 'a{gclid}', '__init', 'x__', '100%', '50% off'],
  '{3F2504E0-4F89-11D3-9A0C-0305E82C3301}',
  '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  '(3f2504e04f8911d39a0c0305e82c3301)',
  ...['GPA.3345-1122', '$RCAnonymousID:8a7b', '<20260101.1@example.com>', 'Café', '日本', '🔥🔥', '{"a":1}'],
  ...['fffffff', 'f', 'EAIaIQobChMI_-x', 'CjwKCAiA-_8', '-Nxyz_abc', '_abc_', 'IwAR0x~y', 'null_1234'],
];

describe('a placeholder', () => {
  it.each(WORDS)('%s is none of any kind', (text) => {
    expect(placeholderId(text)).toBe('says nothing, like null');
    expect(placeholderName(text)).toBe('says nothing, like null');
  });
  it.each(ID_WORDS)('%s is no identifier', (text) => {
    expect(placeholderId(text)).toBe('says nothing, like null');
  });
  it.each(SHARED)('%s is shared', (text) => {
    expect(placeholderId(text)).toBe('is an id that many devices share');
  });
  it.each(MACROS)('%s was not replaced', (text) => {
    expect(placeholderId(text)).toBe('is a macro that was not replaced');
    expect(placeholderName(text)).toBe('is a macro that was not replaced');
  });
});

it.each(REAL)('%s is a real identifier and a real name', (text) => {
  expect([placeholderId(text), placeholderName(text)]).toEqual([null, null]);
});

it.each([
  '00000000-0000-0000-0000-000000000000',
  '{00000000-0000-0000-0000-000000000000}',
  '00000000000000000000000000000000',
  ...['null_null', 'undefined, undefined', 'None/None', 'null,null,null'],
])('%s is no name', (text) => {
  expect(placeholderName(text)).toBe('says nothing, like null');
});

it.each(['Null_Island', 'none_2026', 'Unknown - Spring', '0_0', '000'])('%s is a real name, too', (text) => {
  expect(placeholderName(text)).toBeNull();
});

it.each(['NA', '0', '1', 'true', 'Blank', '[US][Android]', '9774d56d682e549c'])(
  '%s is a real name',
  (text) => {
    expect(placeholderName(text)).toBeNull();
  },
);

it('reads any text in little time', () => {
  for (const mark of ['{', '(', '[', '<', '%', '_', '~', '0', '-', 'null_', '{a}', '__a__'])
    for (const length of [10, 299, 4096]) {
      const started = performance.now();
      placeholderId(mark.repeat(length));
      placeholderName(`(${mark.repeat(length)}`);
      expect(performance.now() - started).toBeLessThan(1_000);
    }
});
