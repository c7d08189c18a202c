import { toCountryCode } from '#lib/input/country';

// Countries in exports: codes, or names in the languages that are read. Pure.

const LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'pl',
  'tr',
  'ja',
  'nl',
  'ko',
  'ar',
  'ru',
  'zh',
  'zh-Hant',
];
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** By which exports say that they do not know, or that they do not divide by country. */
const UNKNOWN: ReadonlySet<string> = new Set([
  ...[
    'unknown',
    'undefined',
    'null',
    'none',
    'n/a',
    'na',
    '(not set)',
    'not set',
    'zz',
    'xx',
    'other',
    'others',
    'all',
  ],
  ...[
    'unbekannt',
    'inconnu',
    'desconocido',
    'sconosciuto',
    'desconhecido',
    'nieznany',
    'bilinmeyen',
    'bilinmiyor',
    '不明',
  ],
  ...['onbekend', '알 수 없음', 'غير معروف', 'неизвестно', '未知'],
]);

/** Names as networks write them that Unicode writes otherwise. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ...{ 'united states of america': 'us', 'great britain': 'gb', 'czech republic': 'cz', turkey: 'tr' },
  ...{ 'republic of korea': 'kr', 'korea, republic of': 'kr', 'russian federation': 'ru', 'viet nam': 'vn' },
  ...{ 'hong kong': 'hk', macau: 'mo', macao: 'mo', 'taiwan, province of china': 'tw', burma: 'mm' },
  ...{ "cote d'ivoire": 'ci', 'ivory coast': 'ci', 'the netherlands': 'nl', 'united states (usa)': 'us' },
};

let names: ReadonlyMap<string, string> | undefined;

const plain = (name: string) => name.normalize('NFKC').replaceAll('’', "'").trim().toLowerCase();

/** Built on first use: few files have names of countries. */
function readNames(): ReadonlyMap<string, string> {
  const byName = new Map<string, string>();
  for (const language of LANGUAGES) {
    const regions = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
    for (const code of LETTERS.flatMap((first) => LETTERS.map((second) => first + second))) {
      const name = regions.of(code);
      // Codes of the past have the names of today's.
      if (name !== undefined && !byName.has(plain(name))) byName.set(plain(name), toCountryCode(code) ?? '');
    }
  }
  for (const [name, code] of Object.entries(OTHER_NAMES)) byName.set(name, code);
  return byName;
}

/** The code of a country; empty if it is not known, and the text itself if it is none, so that the schema reports the fault. */
export function readCountry(text: string): string {
  const name = plain(text);
  if (UNKNOWN.has(name)) return '';
  const code = toCountryCode(name);
  if (code !== null) return code;
  names ??= readNames();
  return names.get(name) ?? text;
}
