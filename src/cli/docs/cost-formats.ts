import { COST_FORMATS, COST_LANGUAGES, type CostFormat, definitionOf } from '#money';

const BEGIN = '<!-- formats: begin (npm run docs:networks) -->';
const END = '<!-- formats: end -->';
const SHOWN = ['date', 'campaign', 'adset', 'creative', 'amount', 'impressions', 'clicks'] as const;

function row(format: CostFormat): string {
  const { label, network, columns, checkedAgainst } = definitionOf(format);
  const cells = SHOWN.map((field) => columns[field]?.[0] ?? '–');
  return `| ${label} | ${network ?? '–'} | ${cells.join(' | ')} | ${checkedAgainst} |\n`;
}

/** `docs/costs.md` with the table of what is read, from the table with which it is read. */
export function withCostFormats(page: string): string {
  const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error('docs/costs.md has no place for the formats');
  const table = `${BEGIN}
Read as they are exported, by day, in ${COST_LANGUAGES} (Meta, Google and TikTok; the others in English). The columns in English, any of which but day, campaign and amount may be missing:

| export of | network | ${SHOWN.join(' | ')} | checked against |
|---|---|${SHOWN.map(() => '---').join('|')}|---|
${(Object.keys(COST_FORMATS) as CostFormat[]).map(row).join('')}`;
  return page.slice(0, start) + table + page.slice(end);
}
