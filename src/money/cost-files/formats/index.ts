import type { CostFormatDefinition } from './definition.ts';
import { google } from './google.ts';
import { meta } from './meta.ts';
import { apple, applovin, linkedin, mintegral, reddit, snap, unity } from './others.ts';
import { tiktok } from './tiktok.ts';

export type { CostColumns, CostField, CostFormatDefinition } from './definition.ts';

export const COST_LANGUAGES =
  'English, German, French, Spanish, Italian, Portuguese, Polish, Turkish, Japanese, Dutch, Korean, Arabic, Russian and Chinese';

/** Whose exports are read, with the columns of each: the only table of them. */
export const COST_FORMATS = {
  own: {
    label: 'This service',
    checkedAgainst: '–',
    columns: {
      date: ['date', 'day'],
      campaign: ['campaign'],
      adset: ['adset'],
      creative: ['creative'],
      currency: ['currency'],
      amount: ['amount'],
      impressions: ['impressions'],
      clicks: ['clicks'],
    },
  },
  ...{ meta, google, tiktok, apple, snap, reddit, linkedin, applovin, unity, mintegral },
} as const satisfies Record<string, CostFormatDefinition>;
export type CostFormat = keyof typeof COST_FORMATS;

/** The definition of a format, without the names of its columns in its type. */
export const definitionOf = (format: CostFormat): CostFormatDefinition => COST_FORMATS[format];

/** Headings of a country in reports of any network. */
export const COUNTRY_HEADINGS: readonly string[] = [
  ...['country', 'country/territory', 'country or region', 'country code', 'country/region'],
  ...[
    'country/territory (user location)',
    'land',
    'land/region',
    'pays',
    'país',
    'paese',
    'kraj',
    'ülke',
    '国',
  ],
  ...['地域', '국가', 'البلد', 'الدولة', 'страна', '国家/地区', '國家/地區', '국가/지역'],
];
