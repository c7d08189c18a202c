import { findLatestClick } from '#attribution';
import { getCreative, listExternalIds, listInventory } from '#creatives';
import type { Creative } from '#creatives/answers';
import { type Database, database, sharedReads } from '#db';
import { settingsOf } from '#env';
import { readAs } from '#http';
import { amountsIn, columnText, count, RATIOS } from '#lib/format';
import { dayIn } from '#lib/time';
import { isOfGroup, LtvQuery, RetentionQuery, reportLtv, reportRetention } from '#reports';
import { revealApiKey } from '#teams';
import { serverLinks, trackingLink } from '#tracking';
import { CohortCurves, CURVE_DAYS, CURVE_HINT, curveOf, PAID_BACK } from '../../charts/cohort-curves.tsx';
import { FiguresPanel, readChosen } from '../../charts/figures-panel.tsx';
import { markerOf, noteMarkers } from '../../charts/markers.ts';
import type { Submitted } from '../../forms/form.ts';
import { redirectShowing, takeShown } from '../../forms/show-once.ts';
import { Copyable } from '../../shell/copyable.tsx';
import { callerOf, isAdmin } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, FoldedCard, Name } from '../../shell/parts.tsx';
import { CsvLink, renderReport, viewAsked } from '../../shell/report.tsx';
import { readView, requireView, type View, viewQuery } from '../../shell/view.ts';
import { readCompared } from '../../tables/compared.tsx';
import { readNotes } from '../../tables/day-notes.tsx';
import { lackedText } from '../../tables/lacking.tsx';
import { LeftOut } from '../../tables/left-out.tsx';
import { placesIn } from '../../tables/places.ts';
import { Table } from '../../tables/table.tsx';
import { TimeTable } from '../../tables/time-table.tsx';
import { ExternalIds } from './external-ids.tsx';
import { type CreativeFormProps, LinkSettings } from './link-settings.tsx';
import { NetworkLinks } from './network-links.tsx';
import { StoreWarning } from './store-warning.tsx';
import { TestLink } from './test-link.tsx';

const HEADLINE = ['revenue', 'spend', 'profit', 'roas', 'installs', 'clicks', 'cpi'] as const;
const DAILY = [
  'ad_impressions_bought',
  'clicks',
  'installs',
  'dau',
  'spend',
  'ad_revenue',
  'purchase_revenue',
  'revenue',
] as const;
const SHOWN = [...new Set([...HEADLINE, ...DAILY])];
const AGES = [1, 3, 7, 14, 30] as const;

const ROAS_HINT = `Revenue by each day since the install, of the devices acquired in the period, against what was spent on them. ${CURVE_HINT}`;

/** A link with more clicks in the period works. */
const FEW_CLICKS = 3;

/** How far back to look for a test click: longer than anyone waits for one. */
const TEST_CLICK_MS = 30 * 60_000;

const pathOf = (id: string) => `/creatives/${id}`;

/** Builds tracking links from tokens, for the origin of the request. */
export const linkTo = (c: DashboardContext) => (token: string) => trackingLink(c.env, c.req.url, token);

/** The creative that the address names. */
export const ownCreative = (c: DashboardContext) =>
  getCreative(database(c.env.DB), c.get('person').team.id, c.req.param('id') ?? '', linkTo(c));

type RetentionDays = Record<string, { classic?: number | null; ltv?: number | null; eligible: number }>;

/** Retention and LTV of a creative's devices, by days since the install. */
const LifetimeTable = ({
  retention,
  ltv,
  view,
}: {
  retention: RetentionDays;
  ltv: RetentionDays;
  view: View;
}) => {
  const ages = AGES.map(String);
  const shares = columnText(RATIOS, ages, (age) => retention[age]?.classic);
  const amounts = columnText(amountsIn(view.currency), ages, (age) => ltv[age]?.ltv);
  return (
    <Table
      caption="Retention and LTV by days since the install"
      rows={ages}
      columns={[
        { label: 'Day', cell: (age) => `Day ${age}` },
        { label: 'Devices', numeric: true, cell: (age) => count(retention[age]?.eligible ?? 0) },
        { label: 'Retention', numeric: true, cell: shares },
        { label: 'LTV', unit: view.currency.toUpperCase(), numeric: true, cell: amounts },
      ]}
    />
  );
};

/** Whether a creative is one of the view's application: another one may have been chosen in the filter bar. */
const belongsTo = async (db: Database, { applications, application }: View, id: string): Promise<boolean> =>
  applications.length === 1 ||
  (await listInventory(db, application.id, { level: 'creative', q: '', creative_id: [id] })).length > 0;

/** Where a creative belongs: the list, its campaign and its ad set, each a link. */
const Within = ({ creative, view }: { creative: Creative; view: View }) => {
  const list = (changes: Record<string, string>) => `/creatives${viewQuery(view, changes)}`;
  return (
    <>
      <a href={list({})}>Creatives</a>
      {' › '}
      <a href={list({ by: 'adset', campaign_id: creative.campaign_id })}>
        <Name name={creative.campaign} />
      </a>
      {' › '}
      <a href={list({ adset_id: creative.adset_id })}>
        <Name name={creative.adset} />
      </a>
      {creative.archived && <span class="badge">Archived</span>}
    </>
  );
};

/** The URLs with which networks' servers report clicks and impressions. */
const ServerLinks = ({ click, impression }: { click: string; impression: string }) => (
  <FoldedCard title="Links for a network’s servers" id="server-links">
    <p class="muted">
      Some networks report clicks and impressions from their own servers. Add their macros for the device’s{' '}
      <code>ip</code> and <code>ua</code> (user agent), and for <code>id</code> and <code>time</code> of the
      click or impression, so that a repeat counts once. Keep these links secret: whoever has them can report
      clicks.
    </p>
    <h3>Clicks</h3>
    <Copyable text={click} label="link for clicks" />
    <h3>Impressions</h3>
    <Copyable text={impression} label="link for impressions" />
  </FoldedCard>
);

/**
 * One creative: its link, costs and revenue, and its devices' retention and LTV. `submitted` is what was sent with one of its forms, of which the
 * page shows the faults.
 */
export async function creativePage(
  c: DashboardContext,
  { form, ...submitted }: Submitted & { form?: 'link' | 'ids' } = {},
) {
  const id = c.req.param('id') ?? '';
  const db = database(c.env.DB);
  const creative = await ownCreative(c);
  const chosen = readChosen(c.req.query(), HEADLINE);
  return renderReport(
    c,
    {
      title: creative.name,
      within: (view) => <Within creative={creative} view={view} />,
      inner: pathOf(id),
      carry: chosen.carry,
    },
    async (view, here) => {
      const { application, now } = view;
      if (!(await belongsTo(db, view, id))) return c.redirect(`/creatives${viewQuery(view)}`);
      const asked = { ...viewAsked(view), creative_id: [id] };
      const ages = { days: AGES.join(','), group_by: 'creative' };
      const own: View = { ...view, filters: { ...view.filters, creative_id: [id] } };
      const unit = chosen.unit(view);
      const env = { ...c.env, DB: sharedReads(c.env.DB) };
      const [compared, retention, ltv, click, notes, ids] = await Promise.all([
        readCompared(env, own, { group_by: unit, metrics: SHOWN.map(chosen.shown) }),
        reportRetention(env, application, readAs(RetentionQuery, { ...asked, ...ages }), now),
        reportLtv(env, application, readAs(LtvQuery, { ...asked, ...ages, days: CURVE_DAYS.join(',') }), now),
        findLatestClick(db, application.id, id, now - TEST_CLICK_MS),
        readNotes(c.env.DB, view),
        listExternalIds(db, [creative.id, creative.adset_id, creative.campaign_id]),
      ]);
      const places = placesIn(view, unit);
      const isOwn = (row: { creative_id?: unknown; is_other?: unknown; is_unallocated?: unknown }) =>
        row.creative_id === id && isOfGroup(row);
      const lifetime = ltv.data.find(isOwn);
      const roas = curveOf(lifetime, (cell) => cell.roas ?? null);
      const createdDay = dayIn(application.timezone, Date.parse(creative.created_at));
      const { apiKey } = await takeShown(c, pathOf(id));
      const mayChange = isAdmin(c);
      const formOf = (name: typeof form): CreativeFormProps => ({
        ...{ creative, submitted: form === name ? submitted : {} },
        search: viewQuery(view),
      });
      const servers = mayChange ? await serverLinks(c.env, id, creative.tracking_link) : null;
      return (
        <>
          <StoreWarning application={application} mayChange={mayChange} />
          <LeftOut report={compared.report} />
          <div class="lead-line">
            <Copyable text={creative.tracking_link} label="tracking link" />
            {mayChange && (
              <Action
                to={`/creatives/${id}/archive${viewQuery(view)}`}
                label={creative.archived ? 'Unarchive' : 'Archive'}
                kind="quiet"
                fields={{ archived: creative.archived ? '' : 'yes' }}
              />
            )}
          </div>
          <FiguresPanel
            {...here}
            view={own}
            chosen={chosen}
            compared={compared}
            unit={unit}
            markers={[...noteMarkers(notes, places), ...markerOf(places, view, createdDay, 'created')].sort(
              (left, right) => left.index - right.index,
            )}
          />
          <TimeTable
            {...here}
            unit={unit}
            names={DAILY.map(chosen.shown)}
            compared={compared}
            notes={notes}
            aside={
              <CsvLink view={view} path="/breakdown" carry={{ by: unit, and: 'creative', creative_id: id }} />
            }
          />
          <Card title="ROAS by age" info={<p>{ROAS_HINT}</p>}>
            {roas.some((value) => value !== null) ? (
              <CohortCurves
                title="ROAS"
                format={RATIOS}
                level={PAID_BACK}
                series={[
                  {
                    name: 'ROAS',
                    values: roas,
                    lacks: curveOf(lifetime, ({ unconverted = [] }) => lackedText(unconverted)),
                  },
                ]}
              />
            ) : (
              <p class="empty">No spend on devices acquired in this period is known.</p>
            )}
          </Card>
          <Card
            title="Retention and LTV"
            info={<p>Devices acquired in this period. A day counts only devices for which it is over.</p>}
          >
            <LifetimeTable
              retention={(retention.data.find(isOwn)?.days ?? {}) as RetentionDays}
              ltv={(lifetime?.days ?? {}) as RetentionDays}
              view={view}
            />
          </Card>
          {mayChange && (
            <>
              <LinkSettings {...formOf('link')} />
              <ExternalIds {...formOf('ids')} ids={ids} />
            </>
          )}
          <NetworkLinks creative={creative} servers={servers} />
          {servers && <ServerLinks {...servers} />}
          <TestLink
            c={c}
            creative={creative}
            view={view}
            click={click}
            apiKey={apiKey}
            isNew={Number(compared.report.totals.clicks) <= FEW_CLICKS}
          />
        </>
      );
    },
  );
}

/** Shows a creative's page once with the API key in the calls that test an install. */
export async function showKey(c: DashboardContext) {
  const view = await requireView(c);
  const { id } = await ownCreative(c);
  const path = pathOf(id);
  const apiKey = await revealApiKey(callerOf(c), view.application, settingsOf(c.env).KEY_ENCRYPTION_SECRET);
  return redirectShowing(c, path, { apiKey }, `${path}${viewQuery(view)}#test-install`);
}

/** The latest click on a creative, for the page that waits for a test click: `{clicked_at, os, country}`, null without one. */
export async function clicksPage(c: DashboardContext) {
  const view = await readView(c);
  const { id } = await ownCreative(c);
  const click = view
    ? await findLatestClick(database(c.env.DB), view.application.id, id, Date.now() - TEST_CLICK_MS)
    : null;
  return c.json({
    clicked_at: click ? click.clickedAt : null,
    os: click?.osFamily ?? null,
    country: click?.country ?? null,
  });
}
