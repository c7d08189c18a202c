import { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { archiveCreative, createCreative, listAdsets, listCampaigns, listCreatives } from '#creatives';
import { database } from '#db';
import { settingsOf } from '#env';
import { AppError } from '#http';
import { atLeast } from '#members';
import { PerformanceQuery, type PerformanceReport, reportPerformance } from '#reports';
import { revealApiKey } from '#teams';
import { performanceColumns } from './breakdown.tsx';
import { creativePage, linkTo } from './creative-page.tsx';
import { readForm, redirectDone } from './form.ts';
import { type DashboardContext, type DashboardEnv, remember, requirePerson, requireRole } from './guard.ts';
import { METRIC_NAMES, sortRows } from './metrics.ts';
import { Card, type Column, Copyable, Field, Notice, Table } from './parts.tsx';
import {
  answerCsv,
  ask,
  CsvLink,
  listingOf,
  RowCount,
  renderReport,
  searchOf,
  TableSearch,
  Unconverted,
  viewAsked,
  wantsCsv,
  Zone,
} from './report.tsx';
import { readView, type View, viewQuery } from './view.ts';

const PAGE = 200;
const NAMES_OFFERED = 200;
/** What a creative is judged by comes before the rest. */
const FIRST = ['clicks', 'installs', 'revenue', 'spend', 'cpi', 'roas'] as const;
const LEVELS = ['campaign', 'adset', 'creative'] as const;
type Level = (typeof LEVELS)[number];
const LABELS: Record<Level, string> = { campaign: 'Campaigns', adset: 'Ad sets', creative: 'Creatives' };

type Row = PerformanceReport['data'][number];

/** What is looked at: a level, and of it only what belongs to the chosen campaign or ad set. */
function readLevel(c: DashboardContext): { level: Level; within: { group: Level; id: string } | null } {
  const [campaign, adset] = [c.req.query('campaign'), c.req.query('adset')];
  if (adset) return { level: 'creative', within: { group: 'adset', id: adset } };
  if (campaign) return { level: 'adset', within: { group: 'campaign', id: campaign } };
  const level = LEVELS.find((name) => name === c.req.query('by')) ?? 'creative';
  return { level, within: null };
}

/** The first cell of a row leads one level down. */
function drillDown(view: View, level: Level): Column<Row>['cell'] {
  return (row) => {
    const [name, id] = [row[level], row[`${level}_id`]];
    if (name === null || name === undefined) return <span class="muted">organic</span>;
    if (row.is_other) return <span class="muted">other</span>;
    if (!id) return <span title="Only in the uploaded costs">{name}</span>;
    const href =
      level === 'creative'
        ? `/creatives/${id}${viewQuery(view)}`
        : `/creatives${viewQuery(view, { [level]: String(id) })}`;
    return <a href={href}>{name}</a>;
  };
}

const LevelTabs = ({ view, level, within }: { view: View; level: Level; within: boolean }) => (
  <nav class="tabs" aria-label="Level">
    {LEVELS.map((name) => (
      <a
        href={`/creatives${viewQuery(view, { by: name })}`}
        {...(name === level && !within ? { 'aria-current': 'page' as const } : {})}
      >
        {LABELS[name]}
      </a>
    ))}
  </nav>
);

async function CreateCard(c: DashboardContext, view: View) {
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
    <Card title="New creative">
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
    </Card>
  );
}

/** The tracking links of an application's creatives, by id. */
async function linksOf(c: DashboardContext, view: View): Promise<Map<string, string>> {
  const page = { application_id: view.application.id, limit: PAGE, cursor: '' };
  const links = new Map<string, string>();
  for (;;) {
    const rows = await listCreatives(database(c.env.DB), page, linkTo(c));
    for (const row of rows) links.set(row.id, row.tracking_link);
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return links;
    page.cursor = last.id;
  }
}

function listPage(c: DashboardContext, notice: Child = null) {
  const { level, within } = readLevel(c);
  const sort = c.req.query('sort') ?? '-revenue';
  const q = searchOf(c);
  const carry: Record<string, string> = within ? { [within.group]: within.id } : { by: level };
  return renderReport(c, { title: 'Creatives', path: '/creatives', carry }, async (view, now) => {
    // Names of creatives are not unique: the ad set tells two of one name apart.
    const groups = within ? [within.group, level] : level === 'creative' ? ['adset', level] : [level];
    const query = ask(PerformanceQuery, {
      ...viewAsked(view),
      ...listingOf(c),
      group_by: groups.join(','),
    });
    const asked = within ? { ...query, within: within.id } : query;
    const report = await reportPerformance(c.env, view.application, asked, now);
    // What is in another campaign or ad set is no part of this list, not even summed up.
    const data = within ? report.data.filter((row) => !row.is_other) : report.data;
    const shown = { ...report, data };
    if (wantsCsv(c)) return answerCsv(c, shown, [...groups, ...METRIC_NAMES], view);
    const links = level === 'creative' ? await linksOf(c, view) : new Map<string, string>();
    const seen = new Set(data.map((row) => row.creative_id));
    const silent =
      within || report.total_rows > data.length || q !== '' ? [] : [...links].filter(([id]) => !seen.has(id));
    const columns = performanceColumns(shown, groups, {
      view,
      path: '/creatives',
      sort,
      parameters: { ...carry, q },
      first: FIRST,
    });
    const named = columns.map((column, index) =>
      index === groups.length - 1 ? { ...column, cell: drillDown(view, level) } : column,
    );
    const link: Column<Row> = {
      label: 'Link',
      wideOnly: true,
      cell: (row) => {
        const url = links.get(String(row.creative_id));
        return url ? <CopyLink text={url} label={`the link of ${row.creative}`} /> : '';
      },
    };
    const withLink =
      level === 'creative' ? [...named.slice(0, groups.length), link, ...named.slice(groups.length)] : named;
    const mayChange = atLeast(c.get('person').role, 'admin');
    const name = within && data[0]?.[within.group];
    return (
      <>
        {notice}
        <Unconverted amounts={report.unconverted} />
        <LevelTabs view={view} level={level} within={within !== null} />
        <Card
          title={within ? `${LABELS[level]} of ${name ?? 'this one'}` : LABELS[level]}
          aside={<CsvLink view={view} path="/creatives" parameters={{ ...carry, q }} />}
        >
          <TableSearch view={view} path="/creatives" parameters={{ ...carry, sort }} q={q} />
          <Table
            caption={`${LABELS[level]}, days in ${view.application.timezone}`}
            rows={sortRows(data, sort)}
            columns={withLink}
            empty="Nothing in this period."
          />
          <RowCount shown={data.filter((row) => !row.is_other).length} total={report.total_rows} q={q} />
          {silent.length > 0 && (
            <p class="hint">
              {silent.length} creatives brought nothing in this period and are not in the table.
            </p>
          )}
          <Zone view={view} />
        </Card>
        {mayChange && (await CreateCard(c, view))}
      </>
    );
  });
}

/** The link itself stands on the creative's own page; here it is only taken along. */
const CopyLink = ({ text, label }: { text: string; label: string }) => (
  <button type="button" class="quiet" data-copy={text} hidden aria-label={`Copy ${label}`}>
    Copy
  </button>
);

export const creativePages = new Hono<DashboardEnv>()
  .use('/creatives/*', requirePerson)
  .get('/creatives', (c) => listPage(c))
  .post('/creatives', requireRole('admin'), async (c) => {
    const now = Date.now();
    const view = await readView(c, now);
    if (!view) throw new AppError('not_found', 'The team has no application yet');
    const { team } = c.get('person');
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    const { creative, campaign, adset } = await readForm(c);
    const { answer } = await createCreative(
      c.env,
      team.id,
      {
        creative,
        campaign,
        adset,
        app_api_key: await revealApiKey(database(c.env.DB), team.id, view.application.id, secret),
      },
      undefined,
      linkTo(c),
      now,
    );
    await remember(
      c,
      'creative.created',
      `${answer.creative.name} in ${answer.campaign.name} › ${answer.adset.name}`,
    );
    return listPage(
      c,
      <Notice kind="good">
        <p>
          <strong>{answer.creative.name}</strong> stands in {answer.campaign.name} › {answer.adset.name}. Put
          this link into the ad:
        </p>
        <Copyable text={answer.creative.tracking_link} label="tracking link" />
      </Notice>,
    );
  })
  .get('/creatives/:id', creativePage)
  .post('/creatives/:id/archive', requireRole('admin'), async (c) => {
    const { archived } = await readForm(c);
    const isArchived = archived === 'yes';
    const { team } = c.get('person');
    const row = await archiveCreative(
      database(c.env.DB),
      team.id,
      c.req.param('id'),
      isArchived,
      linkTo(c),
      Date.now(),
    );
    await remember(c, isArchived ? 'creative.archived' : 'creative.restored', `${row.name} (${row.id})`);
    const path = `/creatives/${row.id}${new URL(c.req.url).search}`;
    return redirectDone(c, path, isArchived ? 'archived' : 'restored');
  });
