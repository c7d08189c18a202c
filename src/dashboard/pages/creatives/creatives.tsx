import type { Child } from 'hono/jsx';
import {
  CreativeChanges,
  changeCreative,
  createCreative,
  INVENTORY_LEVELS,
  listAdsets,
  listCampaigns,
  MAX_INVENTORY,
  NewCreativeNames,
  parseCreative,
  tokensOf,
} from '#creatives';
import { database, type InventoryLevel } from '#db';
import { count } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import type { FormField } from '../../forms/field.tsx';
import { PostForm } from '../../forms/fields.tsx';
import { again, readForm, requireForm } from '../../forms/form.ts';
import { redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin, isGuest } from '../../shell/guard.ts';
import { Info } from '../../shell/info.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { FormMenu } from '../../shell/parts.tsx';
import {
  answerCsv,
  CsvLink,
  NameSearch,
  renderReport,
  ViewFields,
  wantsCsv,
  Zone,
} from '../../shell/report.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';
import { ColumnsMenu, keepColumns } from '../../tables/columns.tsx';
import { ComparedDays, isGrowing } from '../../tables/compared.tsx';
import { compareRows, countOthers, readRows, readTotals, sortItems } from '../../tables/inventory-rows.ts';
import {
  COLUMN_SETS,
  columnsOf,
  comparedMetric,
  type InventoryRequest,
  isByChange,
  isWhole,
  LABELS,
  metricsIn,
  parametersOf,
  readAsked,
  STATUSES,
  totalCells,
} from '../../tables/inventory-table.tsx';
import { lackingIn } from '../../tables/lacking.tsx';
import { LeftOut } from '../../tables/left-out.tsx';
import { changesIn } from '../../tables/row-changes.ts';
import { Table } from '../../tables/table.tsx';
import { clicksPage, creativePage, linkTo, showKey } from './creative-page.tsx';
import { addExternalId, removeExternalId } from './external-id-forms.ts';
import { toLinkChanges } from './link-settings.tsx';
import { StoreWarning } from './store-warning.tsx';

const PAGE = 50;
const NAMES_OFFERED = 200;

/** The levels of the inventory, each with its number of items, if it is known. */
const Levels = ({
  view,
  asked,
  counts,
}: {
  view: View;
  asked: InventoryRequest;
  counts: ReadonlyMap<InventoryLevel, number>;
}) => (
  <nav class="tabs-links" aria-label="Level">
    {INVENTORY_LEVELS.map((level) => {
      const items = counts.get(level);
      return (
        <a
          href={`/creatives${viewQuery(view, parametersOf({ ...asked, level, status: 'all' }))}`}
          {...(level === asked.level ? { 'aria-current': 'page' as const } : {})}
          {...(items === undefined ? {} : { 'data-count': count(items) })}
        >
          {LABELS[level]}
        </a>
      );
    })}
  </nav>
);

const Search = ({ view, asked }: { view: View; asked: InventoryRequest }) => (
  <form method="get" action="/creatives" class="row" data-search-form>
    <ViewFields view={view} changes={{ ...parametersOf(asked), q: '', status: '' }} />
    <NameSearch q={asked.q} />
    {asked.level === 'creative' && (
      <>
        <label for="field-status" class="visually-hidden">
          Status
        </label>
        <select id="field-status" name="status">
          {STATUSES.map(([value, label]) => (
            <option value={value} selected={value === asked.status}>
              {label}
            </option>
          ))}
        </select>
      </>
    )}
    <button type="submit" class="quiet">
      Search
    </button>
  </form>
);

const Columns = ({ view, asked }: { view: View; asked: InventoryRequest }) => (
  <ColumnsMenu
    view={view}
    path="/creatives"
    carry={parametersOf({ ...asked, columns: null, set: 'acquisition' })}
    sets={Object.entries(COLUMN_SETS).map(([name, { label }]) => ({
      label,
      href: `/creatives${viewQuery(view, { ...parametersOf({ ...asked, columns: null }), set: name })}`,
      isChosen: asked.columns === null && name === asked.set,
    }))}
    chosen={metricsIn(asked)}
  />
);

const Pages = ({ view, asked, total }: { view: View; asked: InventoryRequest; total: number }) => {
  const last = Math.max(1, Math.ceil(total / PAGE));
  const first = (asked.page - 1) * PAGE + 1;
  const link = (page: number, text: string) => (
    <a
      class="button quiet"
      href={`/creatives${viewQuery(view, { ...parametersOf(asked), page: page === 1 ? '' : String(page) })}`}
    >
      {text}
    </a>
  );
  if (total <= PAGE) return <p class="pages">{count(total)} in total.</p>;
  return (
    <p class="pages">
      {asked.page > 1 ? link(asked.page - 1, 'Previous') : null}
      <span>
        {count(first)}–{count(Math.min(total, first + PAGE - 1))} of {count(total)}
      </span>
      {asked.page < last ? link(asked.page + 1, 'Next') : null}
    </p>
  );
};

const NEW_FIELDS: readonly FormField[] = [
  { label: 'Creative', name: 'creative', maxlength: 255, required: true },
  {
    label: 'Campaign',
    name: 'campaign',
    maxlength: 255,
    list: 'campaigns',
    hint: 'Empty: named after the week',
  },
  { label: 'Ad set', name: 'adset', maxlength: 255, list: 'adsets', hint: 'Empty: named after the weekday' },
];

async function NewCreative(c: DashboardContext, view: View, open: boolean) {
  const db = database(c.env.DB);
  const page = { application_id: view.application.id, limit: NAMES_OFFERED, cursor: '' };
  const [campaigns, adsets] = await Promise.all([listCampaigns(db, page), listAdsets(db, page)]);
  const named = (id: string, rows: readonly { name: string }[]) => (
    <datalist id={id}>
      {[...new Set(rows.map(({ name }) => name))].map((name) => (
        <option value={name} />
      ))}
    </datalist>
  );
  return (
    <FormMenu label="New creative" id="new" open={open}>
      <PostForm to={`/creatives${viewQuery(view)}`} button="Create" fields={NEW_FIELDS} />
      {named('campaigns', campaigns)}
      {named('adsets', adsets)}
    </FormMenu>
  );
}

/** Why the table is empty, and how to change that. */
function emptyText(asked: InventoryRequest, view: View, mayChange: boolean): Child {
  if (asked.q !== '') return `Nothing matches “${isolate(asked.q)}”.`;
  if (asked.status === 'silent') return 'Every creative has data in this period.';
  if (asked.status === 'archived') return 'No archived creatives.';
  if (Object.keys(view.filters).length > 0) return 'Nothing matches the filters.';
  if (!mayChange) return 'No creatives yet.';
  return 'No creatives yet. Create one above and use its tracking link as the destination of your ad.';
}

function listPage(c: DashboardContext) {
  const asked = readAsked(c);
  keepColumns(c, '/creatives', asked.columns);
  const carry = parametersOf(asked);
  return renderReport(c, { carry }, async (view, here) => {
    const found = await readRows(c, view, asked);
    const { report } = found;
    const compare = (of: typeof found.rows) => compareRows(c, view, asked, { rows: of, report });
    // A page's items are compared alone, except for an order that needs the changes of all.
    const all = wantsCsv(c) || isByChange(asked) ? await compare(found.rows) : null;
    const rows = sortItems(found.rows, asked, all?.byId);
    if (wantsCsv(c)) {
      const columns = metricsIn(asked);
      const data = rows.map(({ item, figures }) => ({
        ...(item.campaign === null ? {} : { campaign: item.campaign }),
        ...(item.adset === null ? {} : { adset: item.adset }),
        [asked.level]: item.name,
        [`${asked.level}_id`]: item.id,
        ...(asked.level === 'creative' ? { network: item.networks.join(', '), archived: item.archived } : {}),
        ...Object.fromEntries(columns.map((name) => [name, figures?.[name] ?? null])),
        ...changesIn(all?.byId.get(item.id), comparedMetric(asked)),
        ...lackingIn(all?.byId.get(item.id)),
      }));
      return answerCsv(c, { ...report, data }, [asked.level, `${asked.level}_id`, ...columns], view);
    }
    const shown = rows.slice((asked.page - 1) * PAGE, asked.page * PAGE);
    const shownIds = shown.map(({ item }) => item.id);
    const person = c.get('person');
    const mayChange = isAdmin(c);
    const isEmpty = rows.length === 0 && isWhole(asked);
    const [tokens, { compared, byId }, sums, newCreative, others] = await Promise.all([
      asked.level === 'creative' && !isGuest(person)
        ? tokensOf(database(c.env.DB), view.application.id, shownIds)
        : new Map<string, string>(),
      all ?? compare(shown),
      readTotals(c, view, asked, found),
      mayChange ? NewCreative(c, view, isEmpty) : null,
      countOthers(c, view, asked),
    ]);
    const links = new Map([...tokens].map(([id, token]) => [id, linkTo(c)(token)]));
    const metric = comparedMetric(asked);
    const isYoung = compared.periods !== null && isGrowing(metric, compared.periods, view);
    const table = columnsOf(view, asked, shown, links, isYoung ? new Map() : byId);
    return (
      <>
        {!isGuest(person) && <StoreWarning application={view.application} mayChange={mayChange} />}
        <LeftOut report={report} />
        <div class="tabs">
          <Levels view={view} asked={asked} counts={new Map([...others, [asked.level, rows.length]])} />
          <div class="tabs-tools">
            <Search view={view} asked={asked} />
            <Columns view={view} asked={asked} />
            <CsvLink {...here} isButton of={found.isCut ? `the newest ${count(MAX_INVENTORY)}` : ''} />
            {newCreative}
          </div>
        </div>
        <section class="card flush">
          <header class="card-head visually-hidden">
            <h2>{LABELS[asked.level]}</h2>
          </header>
          <Table
            caption={`${LABELS[asked.level]}, days in ${view.application.timezone}`}
            rows={shown}
            columns={table}
            empty={emptyText(asked, view, mayChange)}
            sticky
            {...(sums ? { totals: totalCells(view, asked, shown, sums, table) } : {})}
          />
          <footer class="card-foot">
            <Info about="these figures">
              <ComparedDays view={view} compared={compared} metric={metric} />
              <Zone view={view} />
            </Info>
            {found.isCut && (
              <p>Only the newest {count(MAX_INVENTORY)} are listed. Search by name to find older ones.</p>
            )}
            <Pages view={view} asked={asked} total={rows.length} />
          </footer>
        </section>
      </>
    );
  });
}

const againWith = (form: 'link' | 'ids') => again((c, submitted) => creativePage(c, { form, ...submitted }));

const routes = pageRoutes()
  .get('/', (c) => listPage(c))
  .post('/', admin, async (c) => {
    const view = await requireView(c);
    const names = parseCreative(NewCreativeNames, await readForm(c));
    const { creativeId, duplicateOf } = await createCreative(c.env, callerOf(c), view.application, names, {
      linkTo: linkTo(c),
    });
    const done = duplicateOf === null ? 'new_creative' : 'duplicate_creative';
    return redirectDone(c, `/creatives/${creativeId}${viewQuery(view)}`, done);
  })
  .get('/:id', (c) => creativePage(c))
  .post('/:id/link', admin, againWith('link'), async (c) => {
    const data = await requireForm(c, CreativeChanges, toLinkChanges);
    const { id } = await changeCreative(callerOf(c), c.req.param('id'), data, linkTo(c));
    return redirectDone(c, `/creatives/${id}${new URL(c.req.url).search}`, 'saved');
  })
  .post('/:id/external-ids', admin, againWith('ids'), addExternalId)
  .post('/:id/external-ids/remove', admin, removeExternalId)
  .get('/:id/clicks', clicksPage)
  .post('/:id/key', admin, showKey)
  .post('/:id/archive', admin, async (c) => {
    const { archived } = await readForm(c);
    const isArchived = archived === 'yes';
    const row = await changeCreative(callerOf(c), c.req.param('id'), { archived: isArchived }, linkTo(c));
    const path = `/creatives/${row.id}${new URL(c.req.url).search}`;
    return redirectDone(c, path, isArchived ? 'archived' : 'restored');
  });

export const creatives: PageRecord = {
  path: '/creatives',
  title: 'Creatives',
  links: [{ group: 'Acquire', icon: 'M2 3h12v10H2zM2 10l3.5-3.5 3 3 2-2L14 11' }],
  savable: true,
  routes,
};
