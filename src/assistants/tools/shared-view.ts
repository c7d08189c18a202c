import * as z from 'zod';
import { MAX_CHARACTERS } from './bound-rows.ts';
import { cut, defineTool, ToolError } from './tool.ts';

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** The text of a part of a page as its reader sees it. */
const shown = (html: string) =>
  html
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,;:)])/g, '$1')
    .trim();

type SharedTable = { caption: string; columns: string[]; rows: string[][]; totals: string[] };

/** How many events a page lacks; null if it does not say through when it is counted. */
const uncountedOf = (headers: Headers): number | null =>
  headers.has('X-Counted-Through') ? Number(headers.get('X-Uncounted')) : null;

/** What a page of the dashboard shows: its title, notices, figures and tables. */
async function readPage(page: Response) {
  const view = {
    title: '',
    about: '',
    counted_through: page.headers.get('X-Counted-Through'),
    uncounted: uncountedOf(page.headers),
    notices: [] as string[],
    notes: [] as string[],
    figures: [] as { label: string; value: string }[],
    tables: [] as SharedTable[],
  };
  const open = new Set<{ html: string }>();
  /** How many elements around the current text are left out. */
  let hidden = 0;
  const rewriter = new HTMLRewriter().onDocument({
    text({ text }) {
      if (hidden === 0) for (const part of open) part.html += text;
    },
  });
  // Texts of neighbouring elements are not one word.
  const divide = () => {
    for (const part of open) part.html += ' ';
  };
  rewriter.on('p, div, li, summary, span, strong, small, bdi', {
    element(found) {
      divide();
      found.onEndTag(divide);
    },
  });
  rewriter.on('details.info, script, style, svg', {
    element(found) {
      hidden++;
      found.onEndTag(() => void hidden--);
    },
  });
  /** Hands over the text of each element of a selector, once the element ends. */
  const read = (selector: string, put: (text: string) => void) =>
    rewriter.on(selector, {
      element(found) {
        const part = { html: '' };
        open.add(part);
        found.onEndTag(() => {
          open.delete(part);
          put(shown(part.html));
        });
      },
    });
  const lastTable = () => view.tables.at(-1);
  const noted = (list: string[]) => (text: string) => void (text !== '' && list.push(text));
  rewriter.on('main table', {
    element: () => void view.tables.push({ caption: '', columns: [], rows: [], totals: [] }),
  });
  rewriter.on('main tbody tr', { element: () => void lastTable()?.rows.push([]) });
  read('main h1', (text) => (view.title = text));
  read('main .page-head', (text) => (view.about = text));
  read('main .notice, main .reason', noted(view.notices));
  read('main p.hint, main p.empty, main p.muted', noted(view.notes));
  read('main dl dt', (label) => void view.figures.push({ label, value: '' }));
  read('main dl dd', (value) => {
    const figure = view.figures.at(-1);
    if (figure) figure.value = value;
  });
  read('main table caption', (text) => {
    const table = lastTable();
    if (table) table.caption = text;
  });
  read('main thead th', (text) => void lastTable()?.columns.push(text));
  read('main tbody th, main tbody td', (text) => void lastTable()?.rows.at(-1)?.push(text));
  read('main tfoot th, main tfoot td', (text) => void lastTable()?.totals.push(text));
  await rewriter.transform(page).arrayBuffer();
  return view;
}

/** As many rows of each table as fit, in the order of the page. */
function boundTables(tables: readonly SharedTable[]): { tables: SharedTable[]; cut: string | null } {
  const { length } = JSON.stringify(tables);
  if (length <= MAX_CHARACTERS) return { tables: [...tables], cut: null };
  const kept = tables.map((table) => ({
    ...table,
    rows: table.rows.slice(0, Math.floor((table.rows.length * MAX_CHARACTERS) / length)),
  }));
  const rowsIn = (some: readonly SharedTable[]) => some.reduce((sum, { rows }) => sum + rows.length, 0);
  const left = rowsIn(tables) - rowsIn(kept);
  return {
    tables: kept,
    cut: `The page is too long: ${left} of ${rowsIn(tables)} rows are left out. Open the link in a browser for all of them.`,
  };
}

const texts = z.array(z.string());

export const sharedReportTool = (path: string) =>
  defineTool({
    name: 'report',
    title: 'Read the shared view',
    description:
      'What the page of this share link shows, as people read it: its figures, tables and notices. The application, period and filters are those that it was shared with.',
    input: z.object({}),
    output: z.object({
      title: z.string(),
      about: z.string().meta({ description: 'The application, period and filters.' }),
      counted_through: z.iso.datetime().nullable().meta({
        description: 'Every event accepted before this time is included. Null if unknown.',
      }),
      uncounted: z
        .int()
        .nullable()
        .meta({ description: 'How many newer events may be missing. Null if unknown.' }),
      notices: texts.meta({
        description: 'What the figures lack, such as amounts without an exchange rate.',
      }),
      notes: texts,
      figures: z.array(z.object({ label: z.string(), value: z.string() })),
      tables: z.array(z.object({ caption: z.string(), columns: texts, rows: z.array(texts), totals: texts })),
      cut,
    }),
    async run(ask) {
      const page = await ask(path);
      const view = await readPage(page);
      if (page.ok) return { ...view, ...boundTables(view.tables) };
      const wait = page.headers.get('Retry-After');
      const again = wait === null ? '' : ` Try again in ${wait} seconds.`;
      throw new ToolError(`${view.notices[0] ?? view.title}${again}`);
    },
  });
