import { describe, expect, it } from 'vitest';
import { COST_FORMATS } from '#money';
import { parseAmount } from '../../src/money/cost-files/amounts.ts';
import { decodeCostFile } from '../../src/money/cost-files/decode.ts';
import { parseCostFile } from '../../src/money/cost-files/read.ts';

describe('an amount', () => {
  it.each([
    ['12', 12],
    ['12.5', 12.5],
    ['12,5', 12.5],
    ['1,234.50', 1234.5],
    ['1.234,50', 1234.5],
    ['1 234,5', 1234.5],
    ['1’234.50'.replace('’', "'"), 1234.5],
    ['1,234,567', 1234567],
    ['1.234.567', 1234567],
    ['$12.30', 12.3],
    ['12,30 €', 12.3],
    ['0', 0],
    // One separator before three digits may be either.
    ['1,234', null],
    ['1.234', null],
    ['1.5e3', null],
    ['-5', null],
    ['', null],
    ['a lot', null],
    ['1,2,3', null],
  ])('%j is %s', (text, amount) => {
    expect(parseAmount(text)).toBe(amount);
  });
});

const only = (text: string, { currency = 'usd', spread = false } = {}) => {
  const { format, network, rows, faults } = parseCostFile(text, { currency, spread });
  expect(faults).toEqual([]);
  return { format, network, rows };
};

/** Whose exports give their rows a network. */
const NETWORKS_OF: Record<string, string> = {
  ...{ meta: 'meta', google: 'google', tiktok: 'tiktok', applovin: 'applovin', unity: 'unity_ads' },
};

describe('an export of', () => {
  const row = { date: '2026-11-19', campaign: 'Summer', adset: 'Broad', creative: 'Cat' };

  it.each([
    [
      'own',
      'date,campaign,adset,creative,currency,amount,impressions,clicks\n2026-11-19,Summer,Broad,Cat,eur,12.50,1000,20',
      { ...row, currency: 'eur', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'meta',
      'Day,Campaign name,Ad set name,Ad name,Amount spent (EUR),Impressions,Link clicks,Reporting starts,Reporting ends\n2026-11-19,Summer,Broad,Cat,12.5,"1,000",20,2026-11-19,2026-11-19\n,,,,12.5,1000,20,,',
      { ...row, currency: 'eur', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'google',
      'Ad report\n"November 19, 2026 - November 19, 2026"\nDay;Campaign;Ad group;Ad name;Currency code;Cost;Impr.;Clicks\n2026-11-19;Summer;Broad;Cat;EUR;12,50;1.000;20\nTotal: account;;;--;EUR;12,50;1.000;20',
      { ...row, currency: 'EUR', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'tiktok',
      'Campaign name\tAd group name\tAd name\tBy Day\tCost\tImpressions\tClicks (destination)\tCurrency\nSummer\tBroad\tCat\t2026-11-19\t12.50\t1000\t20\tUSD\nTotal of 1 results\t\t\t\t12.50\t1000\t20\t',
      { ...row, currency: 'USD', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'applovin',
      'Day,Campaign,Creative Set,Ad,Impressions,Clicks,Cost\n2026-11-19,Summer,Broad,Cat,1000,20,12.50',
      { ...row, currency: 'usd', amount: 12.5, impressions: '1000', clicks: '20' },
    ],
    [
      'unity',
      'timestamp,campaign name,creative pack name,starts,clicks,spend\n2026-11-19T00:00:00.000Z,Summer,Cat,1000,20,12.50',
      {
        date: '2026-11-19',
        campaign: 'Summer',
        creative: 'Cat',
        currency: 'usd',
        amount: 12.5,
        impressions: '1000',
        clicks: '20',
      },
    ],
  ])('%s is accepted as exported', (format, text, expected) => {
    const network = NETWORKS_OF[format] ?? null;
    expect(only(`\uFEFF${text}\n`)).toEqual({
      ...{ format, network },
      rows: [network === null ? expected : { ...expected, network }],
    });
  });
});

const faultsOf = (text: string, spread = false) =>
  parseCostFile(text, { currency: 'usd', spread }).faults.map(({ path, message }) =>
    `${path} ${message}`.trim(),
  );

const languages = (heading: string) =>
  `Exports are read in English, German, French, Spanish, Italian, Portuguese, Polish, Turkish, Japanese, Dutch, Korean, Arabic, Russian and Chinese; for other headings, say which column is which, such as date=${heading} and amount=…, with date, campaign, adset, creative, currency, amount, impressions, clicks, country, os, network.`;

it.each([
  ['', `The header line has no column for date, campaign, amount. It is empty. ${languages('Datum')}`],
  [
    'date,campaign\n2026-01-01,x',
    `The header line has no column for amount. It has: “date”, “campaign”. ${languages('date')}`,
  ],
  [
    'Päivä,Kampanjan nimi,Käytetty summa (EUR)\n2026-01-01,x,1',
    `The header line has no column for date, campaign, amount. It has: “Päivä”, “Kampanjan nimi”, “Käytetty summa (EUR)”. ${languages('Päivä')}`,
  ],
  [
    'Reporting starts,Campaign name,Amount spent (EUR)\n2026-01-01,x,1',
    `The header line has no column for date: export by day. It has: “Reporting starts”, “Campaign name”, “Amount spent (EUR)”. ${languages('Reporting starts')}`,
  ],
  ['date,campaign,currency,amount\n2026-01-01,x,usd,1,2', 'Line 2: has more fields than the header line'],
  ['date,campaign,currency,amount\n2026-01-01,x,usd,1\n\n2026-01-02,x,usd,', 'Line 4: amount is required'],
  ['date,campaign,currency,amount\n2026-01-01,x,usd,"1,234"', 'Line 2: amount must be a number, not "1,234"'],
  [
    'Campaign name,Amount spent (USD),Reporting starts,Reporting ends\nx,1,2026-01-01,2026-01-03',
    'Line 2: covers 2026-01-01 to 2026-01-03: export by day, or choose to spread each row evenly over its days',
  ],
])('names the fault of %j', (text, fault) => {
  expect(faultsOf(text)).toEqual([fault]);
});

describe('an export of Meta Ads in', () => {
  it.each([
    [
      'German',
      'Tag;Kampagnenname;Anzeigengruppenname;Anzeigenname;Ausgegebener Betrag (EUR);Impressionen;Link-Klicks',
    ],
    [
      'French',
      'Jour;Nom de la campagne;Nom de l’ensemble de publicités;Nom de la publicité;Montant dépensé (EUR);Impressions;Clics sur un lien',
    ],
    [
      'Spanish',
      'Día;Nombre de la campaña;Nombre del conjunto de anuncios;Nombre del anuncio;Importe gastado (EUR);Impresiones;Clics en el enlace',
    ],
    [
      'Italian',
      "Giorno;Nome della campagna;Nome del gruppo di inserzioni;Nome dell'inserzione;Importo speso (EUR);Impression;Clic sul link",
    ],
    [
      'Portuguese',
      'Dia;Nome da campanha;Nome do conjunto de anúncios;Nome do anúncio;Valor usado (EUR);Impressões;Cliques no link',
    ],
    [
      'Polish',
      'Dzień;Nazwa kampanii;Nazwa zestawu reklam;Nazwa reklamy;Wydana kwota (EUR);Wyświetlenia;Kliknięcia linku',
    ],
    [
      'Turkish',
      'Gün;Kampanya Adı;Reklam seti adı;Reklam adı;Harcanan Tutar (EUR);Gösterim;Bağlantı Tıklamaları',
    ],
    ['Japanese', '日;キャンペーン名;広告セット名;広告名;消化金額 (EUR);インプレッション;リンクのクリック'],
  ])('%s is accepted, with semicolons and decimal commas', (_language, heading) => {
    const file = `${heading};Extra\n2026-11-19;Summer;Broad;Cat;1.234,50;1.000;20;x\n`;
    // The same in Unicode's decomposed form, as some systems write it.
    for (const text of [file, file.normalize('NFD')]) {
      expect(only(text)).toEqual({
        ...{ format: 'meta', network: 'meta' },
        rows: [
          {
            ...{ date: '2026-11-19', campaign: 'Summer', adset: 'Broad', creative: 'Cat', network: 'meta' },
            ...{ currency: 'eur', amount: 1234.5, impressions: '1000', clicks: '20' },
          },
        ],
      });
    }
  });
});

it.each([
  ['German', 'Tag,Kampagne,Anzeigengruppe,Währungscode,Kosten,Impr.,Klicks'],
  ['French', "Jour,Campagne,Groupe d'annonces,Code de devise,Coût,Impr.,Clics"],
  ['Spanish', 'Día,Campaña,Grupo de anuncios,Código de moneda,Coste,Impr.,Clics'],
  ['Italian', 'Giorno,Campagna,Gruppo di annunci,Codice valuta,Costo,Impr.,Clic'],
  ['Portuguese', 'Dia,Campanha,Grupo de anúncios,Código da moeda,Custo,Impr.,Cliques'],
  ['Polish', 'Dzień,Kampania,Grupa reklam,Kod waluty,Koszt,Wyśw.,Kliknięcia'],
  ['Turkish', 'GÜN,KAMPANYA,REKLAM GRUBU,PARA BİRİMİ KODU,MALİYET,GÖSTERİM,TIKLAMALAR'],
  ['Japanese', '日,キャンペーン,広告グループ,通貨コード,費用,表示回数,クリック数'],
])('an export of Google Ads in %s is accepted', (language, heading) => {
  const { format, rows } = only(`${heading}\n2026-11-19,Summer,Broad,EUR,12.50,1000,20`);
  expect([format, rows[0]?.adset, rows[0]?.currency, rows[0]?.amount]).toEqual([
    'google',
    'Broad',
    'EUR',
    12.5,
  ]);
  // What capitals of other languages become is not Turkish: the dotless I is another letter.
  if (language !== 'Turkish') expect([rows[0]?.impressions, rows[0]?.clicks]).toEqual(['1000', '20']);
});

it('reads all clicks where there are no link clicks, and takes them for no currency', () => {
  const { rows } = only('Day,Campaign name,Amount spent (EUR),Clicks (all)\n2026-11-19,Summer,1,20');
  expect(rows).toEqual([
    { date: '2026-11-19', campaign: 'Summer', network: 'meta', currency: 'eur', amount: 1, clicks: '20' },
  ]);
});

it.each([
  ['2026-11-19', '2026-11-19'],
  ['2026-11-19T00:00:00Z', '2026-11-19'],
  ['2026/11/19', '2026-11-19'],
  ['19.11.2026', '2026-11-19'],
  ['2026年1月9日', '2026-01-09'],
  // Day and month could be either way round.
  ['11/10/2026', '11/10/2026'],
])('reads the date %s as %s', (text, date) => {
  expect(only(`date,campaign,amount\n${text},x,1`).rows[0]?.date).toBe(date);
});

describe('a row that covers several days', () => {
  const heading = 'Reporting starts,Reporting ends,Campaign name,Amount spent (USD),Impressions';

  it('is spread evenly, to the last unit, if that is chosen', () => {
    const { rows } = only(`${heading}\n2026-02-27,2026-03-01,x,10,8`, { spread: true });
    expect(rows.map(({ date, amount, impressions }) => [date, amount, impressions])).toEqual([
      ['2026-02-27', 3.333333334, '3'],
      ['2026-02-28', 3.333333333, '3'],
      ['2026-03-01', 3.333333333, '2'],
    ]);
  });

  it('keeps its line in faults', () => {
    const { lines } = parseCostFile(`${heading}\n2026-02-27,2026-02-28,x,10,8\n2026-02-27,2026-02-27,y,1,1`, {
      currency: 'usd',
      spread: true,
    });
    expect(lines).toEqual([2, 2, 3]);
  });

  it('is one day if it starts and ends on it, or if the file has days', () => {
    expect(only(`${heading}\n2026-02-27,2026-02-27,x,10,8`).rows).toHaveLength(1);
    expect(only(`Day,${heading}\n2026-02-27,2026-02-01,2026-02-28,x,10,8`).rows).toHaveLength(1);
  });

  it.each([
    ['2026-02-27,2026-02-26', 'ends on 2026-02-26, before it starts on 2026-02-27'],
    ['2025-01-01,2026-02-26', 'covers more than 366 days'],
  ])('is refused from %s', (days, fault) => {
    expect(faultsOf(`${heading}\n${days},x,10,8`, true)).toEqual([`Line 2: ${fault}`]);
  });
});

it('reads UTF-8 and UTF-16, and refuses other encodings', () => {
  const text = 'Día\tCampaña';
  const utf16 = Uint8Array.from(
    [...text].flatMap((letter) => [letter.charCodeAt(0) & 255, letter.charCodeAt(0) >> 8]),
  );
  const swapped = utf16.map((_, index) => utf16[index ^ 1] ?? 0);
  const utf8 = new TextEncoder().encode(text);
  expect(decodeCostFile(utf8)).toBe(text);
  expect(decodeCostFile(Uint8Array.of(0xef, 0xbb, 0xbf, ...utf8))).toBe(text);
  expect(decodeCostFile(Uint8Array.of(0xff, 0xfe, ...utf16))).toBe(text);
  expect(decodeCostFile(Uint8Array.of(0xfe, 0xff, ...swapped))).toBe(text);
  expect(decodeCostFile(Uint8Array.of(0x44, 0xed, 0x61))).toBeNull();
});

it('has every heading once per field', () => {
  for (const { columns } of Object.values(COST_FORMATS)) {
    for (const names of Object.values<readonly string[]>(columns)) {
      expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    }
  }
});
