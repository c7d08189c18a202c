import { type HTMLElement, parse, TextNode } from 'node-html-parser';

// By default the parser leaves the elements in a `pre` unparsed.
const PARSING = { blockTextElements: { script: true, noscript: true, style: true } };

/** A table as its reader sees it, cell by cell, without the orders by change in its head. `totals` is its last row, empty if it has none. */
export type ShownTable = { headings: string[]; rows: string[][]; totals: string[] };

/** A chart as its script reads it: what the readout says at each place. */
export type ShownChart = {
  labels: string[];
  notes: string[];
  series: { name: string; texts: string[]; top: number; ticks: string[] }[];
};

const textsIn = (node: HTMLElement): string[] =>
  node.childNodes.flatMap((child) =>
    child instanceof TextNode ? [child.text] : textsIn(child as HTMLElement),
  );

/** The text of an element, with one space between the texts of its elements and none before punctuation. */
export const textOf = (element: HTMLElement): string =>
  textsIn(element)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:)])/g, '$1')
    .trim();

/**
 * A page or a part of one, for tests that compare whole figures, rows and faults. Asking for something by a name that the page does not have
 * throws an error that lists the names it has.
 */
export class Page {
  readonly #root: HTMLElement;

  constructor(root: HTMLElement | string) {
    this.#root = typeof root === 'string' ? parse(root, PARSING) : root;
  }

  all(selector: string): HTMLElement[] {
    return this.#root.querySelectorAll(selector);
  }

  /** The only element of a selector. */
  one(selector: string): HTMLElement {
    const [found, ...more] = this.all(selector);
    if (!found || more.length > 0) throw new Error(`${found ? more.length + 1 : 'no'} elements ${selector}`);
    return found;
  }

  /** The texts of all elements of a selector. */
  texts(selector: string): string[] {
    return this.all(selector).map(textOf);
  }

  #named<Kind>(what: string, name: string, of: readonly (readonly [name: string, kind: Kind])[]): Kind {
    const found = of.find(([shown]) => shown === name);
    if (!found) throw new Error(`no ${what} “${name}”, only ${of.map(([shown]) => shown).join(' | ')}`);
    return found[1];
  }

  /** The whole text of the page. */
  get text(): string {
    return textOf(this.#root);
  }

  /** The titles of the cards. */
  get cards(): string[] {
    return this.texts('.card-head h2');
  }

  /** The card with a title, as a `Page`. */
  card(title: string): Page {
    const cards = this.all('.card, .panel').map(
      (card) => [new Page(card).cards[0] ?? '', new Page(card)] as const,
    );
    return this.#named('card', title, cards);
  }

  /** The texts of the notices. */
  get notices(): string[] {
    return this.texts('.notice');
  }

  /** The message on an error page. */
  get error(): string {
    return textOf(this.one('p.reason'));
  }

  /** The labelled figures, by their labels: their values, followed by any change or note, without the metric's definition. */
  get figures(): Record<string, string> {
    return Object.fromEntries(
      this.all('dl > div, dl.details').flatMap((entry) => {
        const [labels, values] = [entry.querySelectorAll('dt'), entry.querySelectorAll('dd')];
        for (const definition of entry.querySelectorAll('.definition')) definition.remove();
        return labels.map((label, index) => [textOf(label), values[index] ? textOf(values[index]) : '']);
      }),
    );
  }

  /** The tables' captions. */
  get tables(): string[] {
    return this.texts('table caption');
  }

  /** The table with a caption, or with what precedes the caption's comma. */
  #tableElement(caption: string): HTMLElement {
    const tables = this.all('table').map((table) => [textOf(new Page(table).one('caption')), table] as const);
    const short = tables.map(([shown, table]) => [shown.replace(/,.*/, ''), table] as const);
    return tables.find(([shown]) => shown === caption)?.[1] ?? this.#named('table', caption, short);
  }

  table(caption: string): ShownTable {
    const table = new Page(this.#tableElement(caption));
    const cellsOf = (row: HTMLElement) => new Page(row).texts('th, td');
    return {
      headings: table.texts('thead th > span'),
      rows: table.all('tbody tr').map(cellsOf),
      totals: table.all('tfoot tr').flatMap(cellsOf),
    };
  }

  /** The rows of a table, of which only the columns with these headings, in this order. */
  cells(caption: string, ...headings: string[]): string[][] {
    const { headings: shown, rows } = this.table(caption);
    const places = headings.map((heading) => {
      this.#named(
        'heading',
        heading,
        shown.map((name) => [name, name]),
      );
      return shown.indexOf(heading);
    });
    return rows.map((row) => places.map((place) => row[place] ?? ''));
  }

  /** The row of a table with this text in its first cell, as a `Page`. */
  row(caption: string, first: string): Page {
    const rows = new Page(this.#tableElement(caption)).all('tbody tr');
    const named = rows.map((row) => [new Page(row).texts('td')[0] ?? '', new Page(row)] as const);
    return this.#named('row', first, named);
  }

  /** The addresses of the links, by their texts. The last of several with the same text wins. */
  get links(): Map<string, string> {
    return new Map(this.all('a[href]').map((link) => [textOf(link), link.getAttribute('href') ?? '']));
  }

  /** The address of the link with a text. */
  link(text: string): string {
    return this.#named('link', text, [...this.links]);
  }

  /** The parameters of the link with a text. A repeated name has its last value. */
  query(text: string): Record<string, string> {
    return queryOf(this.link(text));
  }

  /** The texts of the buttons. */
  get buttons(): string[] {
    return this.texts('button');
  }

  /** Where the forms lead. */
  get actions(): string[] {
    return this.all('form').map((form) => form.getAttribute('action') ?? '');
  }

  /** The faults beside the fields, by the fields' names. */
  get faults(): Record<string, string> {
    return Object.fromEntries(
      this.all('.fault[id]').map((fault) => [
        (fault.getAttribute('id') ?? '').replace(/-fault$/, ''),
        textOf(fault),
      ]),
    );
  }

  /** The value of the field with a name: what is typed in it or chosen. */
  value(name: string): string | null {
    const [field] = this.all(`input[name="${name}"], select[name="${name}"], textarea[name="${name}"]`);
    if (!field) throw new Error(`no field ${name}`);
    if (field.tagName === 'TEXTAREA') return field.text;
    if (field.tagName !== 'SELECT') return field.getAttribute('value') ?? null;
    const options = field.querySelectorAll('option');
    const chosen = options.find((option) => option.hasAttribute('selected')) ?? options[0];
    return chosen?.getAttribute('value') ?? null;
  }

  /** The readout of the chart in this part. */
  get chart(): ShownChart {
    return JSON.parse(this.one('[data-chart]').getAttribute('data-chart') ?? '');
  }
}

/** The parameters of an address. A repeated name has its last value. */
export const queryOf = (address: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(address.split('#')[0]?.split('?')[1]));

/** Reads an answer as a page. */
export const pageOf = async (answer: Response): Promise<Page> => new Page(await answer.text());
