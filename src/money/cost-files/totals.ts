import { toNanos, toShortDecimal } from '#lib/money';
import { plainHeading } from './layout.ts';

// Rows that repeat the sum of other rows, in the languages in which exports are read. Pure.

const WORDS = [
  ...[
    'total',
    'totals',
    'grand total',
    'subtotal',
    'sub total',
    'sub-total',
    'overall total',
    'account total',
  ],
  ...[
    'gesamt',
    'gesamtsumme',
    'summe',
    'insgesamt',
    'zwischensumme',
    'gesamtergebnis',
    'somme',
    'total général',
  ],
  ...[
    'total geral',
    'totais',
    'total general',
    'totales',
    'suma',
    'totale',
    'totali',
    'totale complessivo',
    'somma',
  ],
  ...[
    'razem',
    'łącznie',
    'ogółem',
    'suma końcowa',
    'toplam',
    'genel toplam',
    'ara toplam',
    'totaal',
    'eindtotaal',
  ],
  ...[
    '合計',
    '総計',
    '小計',
    '総合計',
    '합계',
    '총계',
    '총합계',
    '소계',
    '总计',
    '合计',
    '小计',
    '總計',
    '总和',
    '總和',
    '总数',
  ],
  ...[
    'итого',
    'всего',
    'общий итог',
    'المجموع',
    'الإجمالي',
    'إجمالي',
    'الاجمالي',
    'المجموع الكلي',
    'الإجمالي الكلي',
    ...['جمع کل', 'مجموع', 'усього', 'всього', 'разом', 'загалом', 'общо', 'укупно'],
  ],
  ...['yhteensä', 'summa', 'totalt', 'total general', 'i alt', 'sum', 'samtals', 'ukupno', 'skupaj'],
  ...['celkem', 'celkom', 'spolu', 'összesen', 'végösszeg', 'kokku', 'kopā', 'iš viso', 'jumlah'],
  ...['total keseluruhan', 'tổng', 'tổng cộng', 'รวม', 'รวมทั้งหมด', 'ผลรวม', 'कुल', 'योग'],
  ...['σύνολο', 'γενικό σύνολο', 'סה"כ', 'סה״כ', 'סך הכל'],
];
const LONGEST_FIRST = [...WORDS].sort((left, right) => right.length - left.length).join('|');
/** The word alone, or before what it is the total of: `Total: Account`, `Total of 3 results`, `合計: アカウント`. */
const LABEL = new RegExp(
  `^(?:${LONGEST_FIRST})(?:\\s*[:：–-].*|\\s+\\(.*\\)|\\s+(?:of|from|de|von|di|van|z|из)\\s+\\d.*)?$`,
  'u',
);
const RESULTS =
  /^(?:results from|ergebnisse aus|résultats de|resultados de|risultati di|resultaten van)\s+[\d.,]+/u;
/** Where no name is expected, what begins with the word is a total as well: `total 40`. */
const BEGINS = new RegExp(`^(?:${LONGEST_FIRST})(?![\\p{L}\\p{N}])`, 'u');

/** Whether a cell with a name is the label of a total. */
export const isTotalLabel = (cell: string): boolean => {
  const plain = plainHeading(cell);
  return LABEL.test(plain) || RESULTS.test(plain);
};

/** Whether a cell that should have a day is the label of a total. */
export const isTotalDay = (cell: string): boolean => {
  const plain = plainHeading(cell);
  return isTotalLabel(cell) || BEGINS.test(plain);
};

/** What a row is about: its day, names and currency, as far as it has them. */
export type RowFacts = { values: readonly string[]; nanos: bigint };

/** The sum of the rows that have the same values as a total, where it has any. */
export function sumUnder(
  total: readonly string[],
  rows: readonly RowFacts[],
): { nanos: bigint; rows: number } {
  let nanos = 0n;
  let count = 0;
  for (const row of rows) {
    if (!total.every((value, index) => value === '' || value === row.values[index])) continue;
    nanos += row.nanos;
    count++;
  }
  return { nanos, rows: count };
}

/** Why the row of a total is not stored, and whether it agrees with the rows that it is of. */
export function totalReason(amount: number, sum: bigint): string {
  if (toNanos(amount) === sum) return 'is a total, which the rows add up to';
  return `is a total of ${toShortDecimal(toNanos(amount))}, but its rows add up to ${toShortDecimal(sum)}`;
}
