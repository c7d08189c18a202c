import { COST_DIMENSIONS, type CostDimension, ofDimensions } from '#catalogue';

// The columns of cost files: our own, and those of the networks' reports in the languages in which people export them. Pure.

/** `start` and `end` are of a row that covers several days. */
export type CostField =
  | 'date'
  | 'start'
  | 'end'
  | 'campaign'
  | 'adset'
  | 'creative'
  | CostDimension
  | 'currency'
  | 'amount'
  | 'impressions'
  | 'clicks';

/** The headings that may hold each field: the first one that a file has is used. */
type CostColumns = Partial<Record<CostField, readonly string[]>>;

export const COST_LANGUAGES =
  'English, German, French, Spanish, Italian, Portuguese, Polish, Turkish and Japanese';

/** Sources: the networks' own help pages on exporting reports, in each language. A currency in a heading, as in `Amount spent (EUR)`, is read too. */
export const COST_FORMATS = {
  own: {
    label: 'This service',
    columns: {
      date: ['date'],
      campaign: ['campaign'],
      adset: ['adset'],
      creative: ['creative'],
      currency: ['currency'],
      amount: ['amount'],
      impressions: ['impressions'],
      clicks: ['clicks'],
    },
  },
  meta: {
    label: 'Meta Ads',
    columns: {
      date: ['day', 'tag', 'jour', 'día', 'giorno', 'dia', 'dzień', 'gün', '日'],
      start: [
        ...['reporting starts', 'berichtsbeginn', 'berichtsstart', 'auswertungsbeginn', 'début des rapports'],
        ...['inicio del informe', 'inizio report', 'inizio dei report', 'início dos relatórios'],
        ...['początek raportu', 'początek raportowania', 'rapor başlangıcı', 'レポート開始日'],
      ],
      end: [
        ...['reporting ends', 'berichtsende', 'auswertungsende', 'fin des rapports', 'fin del informe'],
        ...['fine report', 'fine dei report', 'encerramento dos relatórios', 'término dos relatórios'],
        ...['koniec raportu', 'koniec raportowania', 'rapor sonu', 'レポート終了日'],
      ],
      campaign: [
        ...['campaign name', 'kampagnenname', 'name der kampagne', 'nom de la campagne'],
        ...['nombre de la campaña', 'nome della campagna', 'nome da campanha', 'nazwa kampanii'],
        ...['kampanya adı', 'キャンペーン名'],
      ],
      adset: [
        ...[
          'ad set name',
          'anzeigengruppenname',
          'name der anzeigengruppe',
          "nom de l'ensemble de publicités",
        ],
        ...['nombre del conjunto de anuncios', 'nome del gruppo di inserzioni'],
        ...['nome do conjunto de anúncios', 'nazwa zestawu reklam', 'reklam seti adı', '広告セット名'],
        '広告セットの名前',
      ],
      creative: [
        ...['ad name', 'anzeigenname', 'name der anzeige', 'nom de la publicité', 'nombre del anuncio'],
        ...["nome dell'inserzione", 'nome do anúncio', 'nazwa reklamy', 'reklam adı', '広告名', '広告の名前'],
      ],
      currency: [
        ...['currency', 'account currency', 'währung', 'devise', 'divisa', 'moneda', 'valuta', 'moeda'],
        ...['waluta', 'para birimi', '通貨'],
      ],
      amount: [
        ...['amount spent', 'ausgegebener betrag', 'montant dépensé', 'importe gastado', 'importo speso'],
        ...['valor usado', 'valor gasto', 'montante gasto', 'wydana kwota', 'harcanan tutar', '消化金額'],
      ],
      impressions: [
        ...['impressions', 'impressionen', 'impresiones', 'impression', 'impressioni', 'impressões'],
        ...['wyświetlenia', 'gösterim', 'インプレッション'],
      ],
      clicks: [
        ...['link clicks', 'link-klicks', 'clics sur un lien', 'clics sur le lien', 'clics en el enlace'],
        ...['clic sul link', 'cliques no link', 'kliknięcia linku', 'bağlantı tıklamaları'],
        ...['リンクのクリック', 'リンククリック', 'clicks (all)', 'klicks (alle)', 'clics (tous)'],
        ...['clics (todos)', 'clic (tutti)', 'cliques (todos)', 'kliknięcia (wszystkie)'],
        ...['tıklamalar (tümü)', 'クリック(すべて)'],
      ],
    },
  },
  google: {
    label: 'Google Ads',
    columns: {
      date: ['day', 'tag', 'jour', 'día', 'giorno', 'dia', 'dzień', 'gün', '日'],
      campaign: [
        ...['campaign', 'kampagne', 'campagne', 'campaña', 'campagna', 'campanha', 'kampania', 'kampanya'],
        'キャンペーン',
      ],
      adset: [
        ...['ad group', 'anzeigengruppe', "groupe d'annonces", 'grupo de anuncios', 'gruppo di annunci'],
        ...['grupo de anúncios', 'grupa reklam', 'reklam grubu', '広告グループ'],
      ],
      creative: [
        ...['ad name', 'ad', 'anzeigenname', 'anzeige', "nom de l'annonce", 'annonce', 'nombre del anuncio'],
        ...['anuncio', "nome dell'annuncio", 'annuncio', 'nome do anúncio', 'anúncio', 'nazwa reklamy'],
        ...['reklama', 'reklam adı', 'reklam', '広告名', '広告'],
      ],
      currency: [
        ...['currency code', 'currency', 'währungscode', 'währung', 'code de devise', 'devise'],
        ...['código de moneda', 'moneda', 'codice valuta', 'valuta', 'código da moeda', 'moeda'],
        ...['kod waluty', 'waluta', 'para birimi kodu', 'para birimi', '通貨コード', '通貨'],
      ],
      amount: ['cost', 'kosten', 'coût', 'coste', 'costo', 'custo', 'koszt', 'maliyet', '費用'],
      impressions: [
        ...['impr.', 'impressions', 'impressionen', 'impresiones', 'impressioni', 'impressões', 'wyśw.'],
        ...['wyświetlenia', 'gstr.', 'gösterim', '表示回数'],
      ],
      clicks: ['clicks', 'klicks', 'clics', 'clic', 'cliques', 'kliknięcia', 'tıklamalar', 'クリック数'],
    },
  },
  tiktok: {
    label: 'TikTok Ads',
    columns: {
      date: [
        'by day',
        'date',
        'nach tag',
        'datum',
        'par jour',
        'por día',
        'fecha',
        'al giorno',
        'data',
        '日付',
      ],
      campaign: [
        ...['campaign name', 'kampagnenname', 'nom de la campagne', 'nombre de la campaña'],
        ...['nome della campagna', 'nome campagna', 'nome da campanha', 'nazwa kampanii', 'kampanya adı'],
        'キャンペーン名',
      ],
      adset: [
        ...[
          'ad group name',
          'anzeigengruppenname',
          "nom du groupe d'annonces",
          'nom du groupe de publicités',
        ],
        ...['nombre del grupo de anuncios', 'nome del gruppo di annunci', 'nome do grupo de anúncios'],
        ...['nazwa grupy reklam', 'reklam grubu adı', '広告グループ名'],
      ],
      creative: [
        ...['ad name', 'anzeigenname', "nom de l'annonce", 'nom de la publicité', 'nombre del anuncio'],
        ...["nome dell'annuncio", 'nome do anúncio', 'nazwa reklamy', 'reklam adı', '広告名'],
      ],
      currency: [
        'currency',
        'währung',
        'devise',
        'moneda',
        'valuta',
        'moeda',
        'waluta',
        'para birimi',
        '通貨',
      ],
      amount: [
        ...['cost', 'total cost', 'kosten', 'gesamtkosten', 'coût', 'coût total', 'coste', 'costo', 'custo'],
        ...['koszt', 'maliyet', 'コスト', '費用'],
      ],
      impressions: [
        ...['impressions', 'impression', 'impressionen', 'impresiones', 'impressioni', 'impressões'],
        ...['wyświetlenia', 'gösterim', 'インプレッション', '表示回数'],
      ],
      clicks: [
        ...['clicks (destination)', 'clicks', 'click', 'klicks', 'clics', 'clic', 'cliques', 'kliknięcia'],
        ...['tıklamalar', 'クリック数'],
      ],
    },
  },
  applovin: {
    label: 'AppLovin',
    columns: {
      date: ['day'],
      campaign: ['campaign'],
      adset: ['ad group', 'creative set'],
      creative: ['ad', 'creative'],
      currency: ['currency'],
      amount: ['cost', 'spend'],
      impressions: ['impressions'],
      clicks: ['clicks'],
    },
  },
  unity: {
    label: 'Unity Ads',
    columns: {
      date: ['timestamp', 'date'],
      campaign: ['campaign name'],
      adset: ['ad set name', 'target game name'],
      creative: ['creative pack name'],
      currency: ['currency'],
      amount: ['spend', 'cost'],
      impressions: ['views', 'starts', 'impressions'],
      clicks: ['clicks'],
    },
  },
} as const satisfies Record<string, { label: string; columns: CostColumns }>;
export type CostFormat = keyof typeof COST_FORMATS;

const columnsOf = (format: CostFormat): CostColumns => COST_FORMATS[format].columns;

/** Lower case in every language, and one form of what is written in several: spaces, apostrophes, accents. */
const plain = (text: string) =>
  text
    .normalize('NFKC')
    .replace(/[\u2018\u2019\u02BC]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase()
    // What lower case leaves of the dotted capital I.
    .replaceAll('i\u0307', 'i');

export type Layout = {
  format: CostFormat;
  /** The index of each field's column. */
  at: Partial<Record<CostField, number>>;
  /** The currency in the heading of the amount. */
  currency: string | null;
};

const FIELDS: readonly CostField[] = [
  ...(['date', 'start', 'end', 'campaign', 'adset', 'creative', 'currency', 'amount'] as const),
  ...(['impressions', 'clicks'] as const),
  ...COST_DIMENSIONS,
];

/** Exports with such a column added to them have it under our name. */
const OWN_DIMENSIONS: CostColumns = ofDimensions(COST_DIMENSIONS, (name) => [name]);

function layoutOf(format: CostFormat, headings: readonly string[]): Layout {
  const columns = columnsOf(format);
  const layout: Layout = { format, at: {}, currency: null };
  for (const field of FIELDS) {
    for (const name of columns[field] ?? OWN_DIMENSIONS[field] ?? []) {
      const known = plain(name);
      const index = headings.findIndex(
        (heading) => heading === known || (field === 'amount' && withoutCurrency(heading) === known),
      );
      if (index < 0) continue;
      layout.at[field] = index;
      break;
    }
  }
  const heading = headings[layout.at.amount ?? -1];
  if (heading !== undefined) layout.currency = /\(([a-z]{3})\)$/.exec(heading)?.[1] ?? null;
  return layout;
}

const withoutCurrency = (heading: string) => heading.replace(/\s*\([a-z]{3}\)$/, '');

/** What every row needs. A day may also be given as the start and end of a row's period. */
export function missingFields({ at }: Pick<Layout, 'at'>): string[] {
  const missing: string[] = (['campaign', 'amount'] as const).filter((field) => at[field] === undefined);
  const hasDay = at.date !== undefined || (at.start !== undefined && at.end !== undefined);
  return hasDay ? missing : ['date', ...missing];
}

/** The reading of a line as headings in which the fewest required fields are missing and, among those, the most fields are found. */
export function readLayout(cells: readonly string[]): Layout | null {
  const headings = cells.map(plain);
  const layouts = (Object.keys(COST_FORMATS) as CostFormat[]).map((format) => layoutOf(format, headings));
  const found = ({ at }: Layout) => Object.keys(at).length;
  return (
    layouts.sort(
      (left, right) => missingFields(left).length - missingFields(right).length || found(right) - found(left),
    )[0] ?? null
  );
}
