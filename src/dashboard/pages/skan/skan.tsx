import { settingsOf } from '#env';
import { readAs } from '#http';
import { count, money, NOTHING, percent } from '#lib/format';
import { networkOfPostback } from '#networks';
import { answerSkanCsv, reportSkan, SKAN_GROUPS, type SkanFigures, type SkanGroup, SkanQuery } from '#skan';
import { ChoiceForm } from '../../forms/fields.tsx';
import { again } from '../../forms/form.ts';
import { dayText, timeText } from '../../shell/dates.ts';
import { admin, requireRole } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Blank, Card, Figure, Notice } from '../../shell/parts.tsx';
import { CsvLink, MAX_TABLE_ROWS, RowCount, renderReport, wantsCsv, Zone } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { optionsOf } from '../../shell/words.ts';
import { groupName } from '../../tables/groups.tsx';
import { METRIC_DEFINITIONS } from '../../tables/metrics.ts';
import { type Column, Table } from '../../tables/table.tsx';
import { assignApp, claimsPage } from './claims-page.tsx';
import { removeVersion, saveVersion, schemaPage } from './schema-page.tsx';
import { SetUp } from './set-up.tsx';

const GROUP_LABELS: Readonly<Record<SkanGroup, string>> = {
  day: 'Day',
  network: 'Network id',
  source_identifier: 'Source identifier',
  source_app: 'Source app',
  country: 'Country',
  fidelity: 'Interaction',
  conversion_type: 'Conversion',
  window: 'Window',
};

type SkanRow = SkanFigures['data'][number];
type SkanTotals = SkanFigures['totals'];

const COUNTS = [
  ['postbacks', 'Postbacks', 'Postbacks of all windows, also of ads that did not win the install'],
  ['installs', 'Installs', 'First postbacks of ads that won a first download'],
  ['redownloads', 'Redownloads', 'First postbacks of ads that won a redownload'],
  ['reengagements', 'Re-engagements', 'First postbacks of ads that won a re-engagement'],
  ['value_hidden', 'Value hidden', 'Apple hides the value if too few devices had it. Hidden is not zero'],
  ['value_unmapped', 'Unmapped value', 'The conversion schema does not say what the value means'],
] as const satisfies readonly (readonly [keyof SkanTotals, string, string])[];

const revenueText = (
  { revenue_estimated: range }: Pick<SkanTotals, 'revenue_estimated'>,
  currency: string,
) =>
  range === null
    ? NOTHING
    : range.low === range.high
      ? money(range.low, currency)
      : `${money(range.low, currency)} to ${money(range.high, currency)}`;

function nameOf(row: SkanRow, by: SkanGroup, today: string): string {
  if (row.is_other) return 'Everything else';
  const value = row[by];
  if (value === null || value === undefined) return 'Not given';
  if (by === 'day') return dayText(String(value), today);
  if (by === 'country') return groupName('country', { country: String(value).toLowerCase() });
  if (by === 'fidelity') return value === 1 ? 'Click' : 'View';
  if (by === 'network') {
    const known = networkOfPostback(String(value));
    return known ? `${known.name} (${value})` : String(value);
  }
  return String(value);
}

const NULL_RATE = 'The share of postbacks whose value Apple hides';
const nullRate = ({ value_hidden, postbacks }: SkanTotals): string =>
  percent(postbacks === 0 ? null : value_hidden / postbacks);

const figuresColumns = (rows: readonly SkanRow[], view: View, currency: string): Column<SkanRow>[] => [
  ...COUNTS.filter(([name]) => rows.some((row) => row[name] > 0)).map(
    ([name, label, hint]): Column<SkanRow> => ({
      label,
      hint,
      numeric: true,
      cell: (row) => count(row[name]),
    }),
  ),
  { label: 'Null rate', hint: NULL_RATE, numeric: true, cell: nullRate },
  {
    label: 'Estimated revenue',
    hint: `The range of revenue that the values mean. Compare ${METRIC_DEFINITIONS.revenue.label.toLowerCase()}, which is exact, in the other reports`,
    numeric: true,
    unit: view.currency.toUpperCase(),
    cell: (row) => revenueText(row, currency),
  },
];

const Arrivals = ({ report, view }: { report: SkanFigures; view: View }) => (
  <p class="zone">
    {report.last_postback_at
      ? `Last postback ${timeText(Date.parse(report.last_postback_at), view.application.timezone)}. `
      : ''}
    {report.last_test_postback_at
      ? `Last test ${timeText(Date.parse(report.last_test_postback_at), view.application.timezone)}.`
      : ''}
  </p>
);

const SchemaLink = ({ view }: { view: View }) => (
  <a href={`/skan/schema${viewQuery(view)}`}>Conversion values</a>
);

const Nothing = ({ report, view }: { report: SkanFigures; view: View }) => (
  <Card title="Postbacks" aside={<SchemaLink view={view} />}>
    <Blank
      text={
        report.last_postback_at
          ? 'No postbacks arrived in this period.'
          : "Apple sends postbacks once your app's Info.plist has the keys below."
      }
      {...(report.last_postback_at ? { way: ['Show all time', '/skan?period=all'] as const } : {})}
    />
    <Arrivals report={report} view={view} />
  </Card>
);

function skanPage(c: DashboardContext) {
  const by = SKAN_GROUPS.find((name) => name === c.req.query('by')) ?? 'day';
  const page = {
    carry: { by },
    bar: ['period', 'currency'],
  } as const;
  return renderReport(c, page, async (view, here) => {
    const { application, from, to, currency } = view;
    const query = readAs(SkanQuery, {
      ...{ application_id: application.id, from, to, currency, group_by: by },
      ...(wantsCsv(c) ? {} : { limit: MAX_TABLE_ROWS }),
    });
    const report = await reportSkan(c.env.DB, application, query);
    if (wantsCsv(c)) return answerSkanCsv(c, report, application, query);
    const setUp = (
      <SetUp
        domain={settingsOf(c.env).POSTBACK_DOMAIN}
        host={new URL(c.req.url).hostname}
        application={application}
        mayAssign={c.get('person').role === 'owner'}
        open={report.last_postback_at === null}
      />
    );
    if (report.total_rows === 0) {
      return (
        <>
          <Nothing report={report} view={view} />
          {setUp}
        </>
      );
    }
    const unconverted = report.totals.unconverted ?? [];
    const rows = by === 'day' ? report.data.toReversed() : report.data;
    return (
      <>
        {unconverted.length > 0 && (
          <Notice kind="bad">
            {`The estimated revenue lacks amounts in ${unconverted.map((one) => one.currency.toUpperCase()).join(', ')}, because there is no exchange rate. `}
            <a href="/costs/rates">Add exchange rates</a>
          </Notice>
        )}
        <Card
          title="SKAdNetwork and AdAttributionKit"
          info={
            <p>
              Apple reports these without naming devices, a day to several weeks after the install. They are
              in no other report, and days are those on which postbacks arrived.
            </p>
          }
          aside={<SchemaLink view={view} />}
        >
          <dl class="figures">
            {COUNTS.map(([name, label, hint]) => (
              <Figure label={label} hint={hint} metric={name} value={count(report.totals[name])} />
            ))}
            <Figure label="Null rate" hint={NULL_RATE} metric="null_rate" value={nullRate(report.totals)} />
            <Figure
              label="Estimated revenue"
              hint="The range of revenue that the values mean"
              metric="revenue_estimated"
              value={revenueText(report.totals, currency)}
            />
          </dl>
          <Arrivals report={report} view={view} />
        </Card>
        <ChoiceForm
          path="/skan"
          view={view}
          fields={[
            {
              label: 'Group by',
              name: 'by',
              value: by,
              options: optionsOf(SKAN_GROUPS, GROUP_LABELS),
            },
          ]}
        />
        <Card title={`By ${GROUP_LABELS[by].toLowerCase()}`} aside={<CsvLink {...here} />}>
          <Table
            caption={`Postbacks by ${GROUP_LABELS[by].toLowerCase()}, days in ${application.timezone}`}
            rows={rows}
            columns={[
              { label: GROUP_LABELS[by], cell: (row) => nameOf(row, by, view.today) },
              ...figuresColumns(report.data, view, currency),
            ]}
          />
          <RowCount rows={rows} total={report.total_rows} />
          <Zone view={view} />
        </Card>
        {setUp}
      </>
    );
  });
}

const owner = requireRole('owner');

export const skan: PageRecord = {
  path: '/skan',
  title: 'SKAdNetwork',
  links: [{ group: 'Acquire', icon: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM6 8l1.5 1.5L10.5 6.5' }],
  routes: pageRoutes()
    .get('/', skanPage)
    .get('/schema', (c) => schemaPage(c))
    .post('/schema', admin, saveVersion)
    .post('/schema/remove', admin, removeVersion)
    .get('/apps', owner, (c) => claimsPage(c))
    .post('/apps', owner, again(claimsPage), assignApp),
};
