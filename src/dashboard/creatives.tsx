import { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import {
  archiveCreative,
  CreativeNames,
  createCreative,
  INVENTORY_LEVELS,
  type InventoryItem,
  type InventoryLevel,
  listAdsets,
  listCampaigns,
  listInventory,
  MAX_INVENTORY,
  parseCreative,
  tokensOf,
} from '#creatives';
import { database } from '#db';
import { AppError, MAX_FILTER_VALUES } from '#http';
import { atLeast } from '#members';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { clicksPage, creativePage, linkTo } from './creative-page.tsx';
import { readForm, redirectDone } from './form.ts';
import { count, moment, NOTHING } from './format.ts';
import { callerOf, type DashboardContext, type DashboardEnv, requirePerson, requireRole } from './guard.ts';
import { METRIC_NAMES, METRICS, type MetricName, showMetric, sortRows } from './metrics.ts';
import { Card, type Column, Field, Table } from './parts.tsx';
import {
  answerCsv,
  ask,
  CsvLink,
  renderReport,
  searchOf,
  Unconverted,
  ViewFields,
  viewAsked,
  wantsCsv,
  Zone,
} from './report.tsx';
import { StoreWarning } from './store-warning.tsx';
import { readView, type View, viewQuery } from './view.ts';

const PAGE = 50;
const NAMES_OFFERED = 200;

const LABELS: Record<InventoryLevel, string> = {
  campaign: 'Campaigns',
  adset: 'Ad sets',
  creative: 'Creatives',
};
const LABEL: Record<InventoryLevel, string> = { campaign: 'Campaign', adset: 'Ad set', creative: 'Creative' };

const STATUSES = [
  ['all', 'All'],
  ['active', 'Active'],
  ['archived', 'Archived'],
  ['silent', 'No data in this period'],
] as const;
type Status = (typeof STATUSES)[number][0];

/** What a creative is judged by, for the two questions that people ask, or everything. */
const COLUMN_SETS = {
  acquisition: {
    label: 'Acquisition',
    metrics: ['clicks', 'installs', 'spend', 'cpi', 'revenue', 'roas'],
  },
  monetisation: {
    label: 'Monetisation',
    metrics: ['revenue', 'ad_revenue', 'purchase_revenue', 'payers', 'dau', 'arpdau', 'ecpm'],
  },
  all: { label: 'All metrics', metrics: METRIC_NAMES },
} as const satisfies Record<string, { label: string; metrics: readonly MetricName[] }>;
type ColumnSet = keyof typeof COLUMN_SETS;

type Figures = PerformanceReport['data'][number];
/** What sorts a row, and what it shows; the figures are undefined where the period has none. */
type Row = { item: InventoryItem; figures: Figures | undefined };

type Asked = {
  level: InventoryLevel;
  status: Status;
  set: ColumnSet;
  sort: string;
  q: string;
  page: number;
};

function readAsked(c: DashboardContext): Asked {
  const { by = '', status = '', set = '', sort = '-revenue', page = '' } = c.req.query();
  return {
    level: INVENTORY_LEVELS.find((name) => name === by) ?? 'creative',
    status: STATUSES.find(([name]) => name === status)?.[0] ?? 'all',
    set: Object.hasOwn(COLUMN_SETS, set) ? (set as ColumnSet) : 'acquisition',
    sort,
    q: searchOf(c),
    page: Math.max(1, Number.parseInt(page, 10) || 1),
  };
}

/** What of the page's own stands in its URL; what is as it would be anyway is left out. */
const parametersOf = ({ level, status, set, sort, q }: Asked): Record<string, string> => ({
  by: level === 'creative' ? '' : level,
  status: status === 'all' ? '' : status,
  set: set === 'acquisition' ? '' : set,
  sort: sort === '-revenue' ? '' : sort,
  q,
});

/** Everything the application has at this level with its figures of the period, in the order that was asked for. */
async function readRows(c: DashboardContext, view: View, asked: Asked, now: number) {
  const { level, status, q } = asked;
  const { campaign_id, adset_id, creative_id } = view.filters;
  const query = ask(PerformanceQuery, { ...viewAsked(view), group_by: level });
  const [items, report] = await Promise.all([
    listInventory(database(c.env.DB), view.application.id, {
      level,
      q,
      campaign_id,
      adset_id,
      creative_id,
      ...(level === 'creative' && (status === 'active' || status === 'archived')
        ? { archived: status === 'archived' }
        : {}),
    }),
    // The list is the inventory's, so the report must not put any of it together.
    reportPerformance(c.env, view.application, { ...query, limit: MAX_INVENTORY }, now),
  ]);
  const figures = new Map(report.data.map((row) => [row[`${level}_id`], row]));
  const rows = items.flatMap((item): Row[] => {
    const found = figures.get(item.id);
    if (status === 'silent' && found) return [];
    return [{ item, figures: found }];
  });
  const sortable = rows.map((row) => ({
    ...row.figures,
    row,
    name: row.item.name,
    created: row.item.createdAt,
  }));
  return { rows: sortRows(sortable, asked.sort).map(({ row }) => row), report };
}

/** The totals of what a search found, of which the report alone knows the ratios; null where it found too much to ask for. */
async function readFoundTotals(
  c: DashboardContext,
  view: View,
  { level }: Asked,
  rows: readonly Row[],
  now: number,
): Promise<PerformanceReport['totals'] | null> {
  const ids = rows.flatMap(({ item, figures }) => (figures ? [item.id] : []));
  if (ids.length === 0 || ids.length > MAX_FILTER_VALUES) return null;
  const query = ask(PerformanceQuery, { ...viewAsked(view), [`${level}_id`]: ids, group_by: 'month' });
  return (await reportPerformance(c.env, view.application, query, now)).totals;
}

const heading = (view: View, asked: Asked, name: string, first: string) => {
  const turned = first.startsWith('-') ? name : `-${name}`;
  const sort = asked.sort === first ? turned : first;
  return {
    sortHref: `/creatives${viewQuery(view, { ...parametersOf({ ...asked, sort }) })}`,
    ...(asked.sort === name ? { sorted: 'ascending' as const } : {}),
    ...(asked.sort === `-${name}` ? { sorted: 'descending' as const } : {}),
  };
};

/** A name leads one level down, a creative's to its page. Long ones are cut by the style sheet and whole in their title. */
const NameCell = ({ view, asked, item }: { view: View; asked: Asked; item: InventoryItem }) => {
  const { level } = asked;
  const below = level === 'campaign' ? 'adset' : 'creative';
  const href =
    level === 'creative'
      ? `/creatives/${item.id}${viewQuery(view)}`
      : `/creatives${viewQuery(view, { by: below === 'creative' ? '' : below, [`${level}_id`]: item.id })}`;
  const within = [item.campaign, item.adset].filter((name) => name !== null).join(' › ');
  return (
    <>
      <a class="cut" href={href} title={item.name}>
        {item.name}
      </a>
      {within !== '' && (
        <span class="cut muted" title={within}>
          {within}
        </span>
      )}
    </>
  );
};

function columnsOf(view: View, asked: Asked, links: ReadonlyMap<string, string>): Column<Row>[] {
  const metrics: readonly MetricName[] = COLUMN_SETS[asked.set].metrics;
  const ofCreatives: Column<Row>[] = [
    { label: 'Status', cell: ({ item }) => (item.archived ? <span class="badge">Archived</span> : 'Active') },
    {
      label: 'Link',
      wideOnly: true,
      cell: ({ item }) => {
        const url = links.get(item.id);
        return url ? <CopyLink text={url} label={`the link of ${item.name}`} /> : '';
      },
    },
  ];
  return [
    {
      label: LABEL[asked.level],
      ...heading(view, asked, 'name', 'name'),
      cell: ({ item }) => <NameCell view={view} asked={asked} item={item} />,
    },
    ...(asked.level === 'creative' ? ofCreatives : []),
    ...metrics.map((name) => ({
      label: METRICS[name].label,
      hint: METRICS[name].hint,
      numeric: true,
      ...heading(view, asked, name, `-${name}`),
      cell: ({ figures }: Row) => (figures ? showMetric(name, figures[name], view.currency) : NOTHING),
    })),
    {
      label: 'Created',
      wideOnly: true,
      ...heading(view, asked, 'created', '-created'),
      cell: ({ item }) => moment(item.createdAt, view.application.timezone).slice(0, 10),
    },
  ];
}

/** The link itself stands on the creative's own page; here it is only taken along. */
const CopyLink = ({ text, label }: { text: string; label: string }) => (
  <button type="button" class="quiet" data-copy={text} hidden aria-label={`Copy ${label}`}>
    Copy
  </button>
);

const Tabs = <Name extends string>({
  label,
  names,
  current,
  href,
}: {
  label: string;
  names: readonly (readonly [Name, string])[];
  current: Name;
  href: (name: Name) => string;
}) => (
  <nav class="tabs" aria-label={label}>
    {names.map(([name, text]) => (
      <a href={href(name)} {...(name === current ? { 'aria-current': 'page' as const } : {})}>
        {text}
      </a>
    ))}
  </nav>
);

const Search = ({ view, asked }: { view: View; asked: Asked }) => (
  <form method="get" action="/creatives" class="row">
    <ViewFields view={view} changes={{ ...parametersOf(asked), q: '', status: '' }} />
    <Field label="Search" name="q" type="search" value={asked.q} maxlength={256} />
    {asked.level === 'creative' ? (
      <Field label="Status" name="status" value={asked.status} options={STATUSES} />
    ) : null}
    <button type="submit" class="quiet">
      Search
    </button>
  </form>
);

const Pages = ({ view, asked, total }: { view: View; asked: Asked; total: number }) => {
  const last = Math.max(1, Math.ceil(total / PAGE));
  const first = (asked.page - 1) * PAGE + 1;
  const link = (page: number, text: string) => (
    <a
      href={`/creatives${viewQuery(view, { ...parametersOf(asked), page: page === 1 ? '' : String(page) })}`}
    >
      {text}
    </a>
  );
  if (total <= PAGE) return <p class="hint">{count(total)} in total.</p>;
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
    <details class="card" id="new" open={open}>
      <summary>New creative</summary>
      <form method="post" action={`/creatives${viewQuery(view)}`} class="row">
        <Field label="Creative" name="creative" maxlength={255} required />
        <Field
          label="Campaign"
          name="campaign"
          maxlength={255}
          list="campaigns"
          hint="Empty: named after the week"
        />
        <Field
          label="Ad set"
          name="adset"
          maxlength={255}
          list="adsets"
          hint="Empty: named after the weekday"
        />
        <button type="submit">Create</button>
      </form>
      {named('campaigns', campaigns)}
      {named('adsets', adsets)}
    </details>
  );
}

/** What the table is empty of, and what fills it. */
function emptyText(asked: Asked, view: View): Child {
  if (asked.q !== '') return `Nothing matches “${asked.q}”.`;
  if (asked.status === 'silent') return 'Every creative has data in this period.';
  if (asked.status === 'archived') return 'No creative is archived.';
  if (Object.keys(view.filters).length > 0) return 'Nothing matches the filters.';
  return 'No creatives yet. Create one above and use its tracking link as the destination of your ad.';
}

function listPage(c: DashboardContext) {
  const asked = readAsked(c);
  const carry = parametersOf(asked);
  return renderReport(c, { title: 'Creatives', path: '/creatives', carry }, async (view, now) => {
    const { rows, report } = await readRows(c, view, asked, now);
    const columns: readonly MetricName[] = COLUMN_SETS[asked.set].metrics;
    if (wantsCsv(c)) {
      const data = rows.map(({ item, figures }) => ({
        ...(item.campaign === null ? {} : { campaign: item.campaign }),
        ...(item.adset === null ? {} : { adset: item.adset }),
        [asked.level]: item.name,
        [`${asked.level}_id`]: item.id,
        ...(asked.level === 'creative' ? { archived: item.archived } : {}),
        ...Object.fromEntries(columns.map((name) => [name, figures?.[name] ?? null])),
      }));
      return answerCsv(c, { ...report, data }, [asked.level, `${asked.level}_id`, ...columns], view);
    }
    const shown = rows.slice((asked.page - 1) * PAGE, asked.page * PAGE);
    const tokens =
      asked.level === 'creative'
        ? await tokensOf(
            database(c.env.DB),
            view.application.id,
            shown.map(({ item }) => item.id),
          )
        : new Map<string, string>();
    const links = new Map([...tokens].map(([id, token]) => [id, linkTo(c)(token)]));
    const mayChange = atLeast(c.get('person').role, 'admin');
    const isWhole = asked.q === '' && asked.status === 'all';
    const sums = isWhole ? report.totals : await readFoundTotals(c, view, asked, rows, now);
    const totals = sums && [
      isWhole ? 'Total, with organic' : 'Total of these',
      ...(asked.level === 'creative' ? ['', ''] : []),
      ...columns.map((name) => showMetric(name, sums[name], view.currency)),
      '',
    ];
    return (
      <>
        <StoreWarning application={view.application} mayChange={mayChange} />
        <Unconverted amounts={report.unconverted} />
        {mayChange && (await NewCreative(c, view, rows.length === 0 && isWhole))}
        <Tabs
          label="Level"
          names={INVENTORY_LEVELS.map((name) => [name, LABELS[name]] as const)}
          current={asked.level}
          href={(level) => `/creatives${viewQuery(view, parametersOf({ ...asked, level, status: 'all' }))}`}
        />
        <Card
          title={LABELS[asked.level]}
          aside={<CsvLink view={view} path="/creatives" parameters={parametersOf(asked)} />}
        >
          <Search view={view} asked={asked} />
          <Tabs
            label="Columns"
            names={Object.entries(COLUMN_SETS).map(
              ([name, { label }]) => [name as ColumnSet, label] as const,
            )}
            current={asked.set}
            href={(set) => `/creatives${viewQuery(view, parametersOf({ ...asked, set }))}`}
          />
          <Table
            caption={`${LABELS[asked.level]}, days in ${view.application.timezone}`}
            rows={shown}
            columns={columnsOf(view, asked, links)}
            empty={emptyText(asked, view)}
            sticky
            {...(totals ? { totals } : {})}
          />
          <Pages view={view} asked={asked} total={rows.length} />
          <Zone view={view} />
        </Card>
      </>
    );
  });
}

export const creativePages = new Hono<DashboardEnv>()
  .use('/creatives/*', requirePerson)
  .get('/creatives', (c) => listPage(c))
  .post('/creatives', requireRole('admin'), async (c) => {
    const view = await readView(c, Date.now());
    if (!view) throw new AppError('not_found', 'The team has no application yet');
    const names = parseCreative(CreativeNames, await readForm(c));
    const { creativeId } = await createCreative(c.env, callerOf(c), view.application, names, {
      linkTo: linkTo(c),
    });
    return redirectDone(c, `/creatives/${creativeId}${viewQuery(view)}`, 'new_creative');
  })
  .get('/creatives/:id', creativePage)
  .get('/creatives/:id/clicks', clicksPage)
  .post('/creatives/:id/archive', requireRole('admin'), async (c) => {
    const { archived } = await readForm(c);
    const isArchived = archived === 'yes';
    const row = await archiveCreative(callerOf(c), c.req.param('id'), isArchived, linkTo(c));
    const path = `/creatives/${row.id}${new URL(c.req.url).search}`;
    return redirectDone(c, path, isArchived ? 'archived' : 'restored');
  });
