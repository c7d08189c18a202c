import { clickFlooding, DOUBT_RULES, FLOODING } from '#catalogue';
import { readAs } from '#http';
import { columnText, count, NOTHING, percent, RATIOS } from '#lib/format';
import { DOUBTS_GROUPS, DoubtsQuery, findDoubts } from '#reports';
import { ChoiceForm } from '../../forms/fields.tsx';
import { dayText } from '../../shell/dates.ts';
import { isAdmin } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Blank, Card, Figure } from '../../shell/parts.tsx';
import {
  answerReportCsv,
  CsvLink,
  MAX_TABLE_ROWS,
  renderReport,
  viewAsked,
  wantsCsv,
  Zone,
} from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { DOUBT_ACTION_NAMES } from '../../shell/words.ts';
import { GroupCell, groupLabel, groupWord } from '../../tables/groups.tsx';
import { type Column, Table } from '../../tables/table.tsx';

const PATH = '/doubts';

type Doubts = Awaited<ReturnType<typeof findDoubts>>;
type RuleRow = Doubts['rules'][number];
type DoubtedGroup = Doubts['groups'][number];

/** Gross, what is taken off, and net. */
const FIGURES = [
  ['attributed_installs', 'Attributed installs', 'Gross: with those that a rule doubts or has excluded'],
  ['doubted_installs', 'Doubtful installs', 'Installs that at least one rule doubts'],
  ['excluded_installs', 'Excluded', 'Installs that a rule excluded when they came. They count as organic'],
  ['net_installs', 'Net installs', 'Attributed installs that no rule doubts'],
] as const satisfies readonly (readonly [keyof Doubts['totals'], string, string])[];

const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
const doubtedShare = (row: Doubts['totals']) => shareOf(row.doubted_installs, row.attributed_installs);

const thresholdOf = ({ rule, threshold }: RuleRow): string => {
  const label = DOUBT_RULES.find(({ id }) => id === rule)?.threshold?.label;
  return threshold === null || label === undefined ? NOTHING : `${label}: ${count(threshold)}`;
};

type DoubtsProps = { view: View; doubts: Doubts };

const Rules = ({ view, doubts: { rules, totals }, mayChange }: DoubtsProps & { mayChange: boolean }) => {
  const share = columnText(RATIOS, rules, (row) => shareOf(row.doubted_installs, totals.attributed_installs));
  return (
    <Card
      title="By rule"
      info={
        <>
          <p>
            The rules are asked again with today’s settings, so this shows what a changed threshold would have
            meant. Several rules may doubt one install.
          </p>
          <p>
            Not checked: too little is known to tell, which is not a clean result. Only Google Play tells when
            an installation began, and an impression has no click.
          </p>
        </>
      }
      aside={
        <span class="asides">
          {mayChange && <a href={`/settings/applications/${view.application.id}#doubts`}>Change the rules</a>}
          <CsvLink view={view} path={PATH} carry={{ by: 'rule' }} />
        </span>
      }
    >
      <Table
        caption="Doubtful installs by rule"
        rows={rules}
        columns={[
          { label: 'Rule', wrap: true, cell: ({ label }) => label },
          { label: 'Action', cell: ({ action }) => DOUBT_ACTION_NAMES[action] },
          { label: 'Threshold', wrap: true, wideOnly: true, cell: thresholdOf },
          { label: 'Doubtful', numeric: true, cell: (row) => count(row.doubted_installs) },
          {
            label: 'Share',
            hint: 'Of the attributed installs',
            numeric: true,
            cell: share,
          },
          {
            label: 'Not checked',
            hint: 'Too little is known to tell',
            numeric: true,
            cell: ({ action, not_checked_installs: installs }) =>
              action === 'allow' ? NOTHING : count(installs),
          },
        ]}
      />
    </Card>
  );
};

const hours = (seconds: number | null) =>
  seconds === null ? NOTHING : `${count(Math.round(seconds / 3_600))} h`;

/** Days of creatives whose clicks look like click flooding. */
const Flooding = ({ view, doubts }: DoubtsProps) => {
  const { flooded, rules, judged_source_days: judged, median_conversion: median } = doubts;
  const places = RATIOS.places([...flooded.map(({ conversion }) => conversion), median ?? 0]);
  const threshold = rules.find(({ rule }) => rule === clickFlooding.id)?.threshold ?? 0;
  return (
    <Card
      title="Click flooding"
      info={
        <>
          <p>
            {`A source that reports clicks for everybody is credited with people who would have installed anyway. A creative’s day is listed if it had at least ${count(FLOODING.minClicks)} clicks, its conversion is at most ${count(threshold)}% of the median, and installs came late and evenly after their click.`}
          </p>
          <p>
            The rule doubts all installs of such a day by a click. When an install comes, its day is not over:
            the rule is then asked about the day before.
          </p>
        </>
      }
    >
      {flooded.length === 0 ? (
        <p>
          {median === null
            ? `Not checked: fewer than ${FLOODING.minDays} days of creatives have ${count(FLOODING.minClicks)} clicks or more.`
            : `None of the ${count(judged)} days of creatives with ${count(FLOODING.minClicks)} clicks or more looks like it.`}
        </p>
      ) : (
        <>
          <Table
            caption="Days of creatives that look like click flooding"
            rows={flooded}
            columns={[
              { label: 'Day', cell: ({ day }) => dayText(day, view.today) },
              {
                label: 'Creative',
                cell: (row) => <GroupCell view={view} path={PATH} carry={{}} name="creative" row={row} />,
              },
              { label: 'Clicks', numeric: true, cell: (row) => count(row.clicks) },
              { label: 'Installs', numeric: true, cell: (row) => count(row.installs) },
              { label: 'Conversion', numeric: true, cell: (row) => percent(row.conversion, places) },
              {
                label: 'Click to open',
                hint: 'Median',
                numeric: true,
                cell: (row) => hours(row.median_seconds),
              },
            ]}
          />
          <p class="hint">{`Median conversion: ${percent(median, places)}`}</p>
        </>
      )}
    </Card>
  );
};

const groupColumns = (
  view: View,
  by: string,
  share: (row: DoubtedGroup) => string,
): Column<DoubtedGroup>[] => [
  {
    label: groupLabel(by),
    cell: (row) => <GroupCell view={view} path={PATH} carry={{ by }} name={by} row={row} />,
  },
  ...FIGURES.map(
    ([name, label, hint]): Column<DoubtedGroup> => ({
      label,
      hint,
      numeric: true,
      cell: (row) => count(row[name]),
    }),
  ),
  {
    label: 'Doubtful share',
    hint: 'Of the attributed installs',
    numeric: true,
    cell: share,
  },
];

function doubtsPage(c: DashboardContext) {
  const named = c.req.query('by');
  const by = DOUBTS_GROUPS.find((name) => name === named) ?? 'campaign';
  const page = { carry: { by }, bar: ['period', 'filters'] } as const;
  return renderReport(c, page, async (view, here) => {
    const asked = viewAsked(view);
    if (wantsCsv(c)) {
      const query = named === 'rule' ? asked : { ...asked, group_by: by };
      return answerReportCsv(c, 'doubts', query, view);
    }
    const doubts = await findDoubts(
      c.env,
      view.application,
      readAs(DoubtsQuery, { ...asked, group_by: by }),
      view.now,
    );
    const { totals, groups } = doubts;
    if (totals.attributed_installs === 0) {
      return (
        <Card title="Doubtful installs">
          <Blank
            text="Rules look for signs of fraud in installs that a click or an impression led to. There are none in this period."
            way={
              view.period === 'all'
                ? undefined
                : ['Show all time', PATH + viewQuery(view, { by, period: 'all' })]
            }
          />
        </Card>
      );
    }
    const rows = groups.slice(0, MAX_TABLE_ROWS);
    const share = columnText(RATIOS, [totals, ...rows], doubtedShare);
    return (
      <>
        <Card title="In this period">
          <dl class="figures">
            {FIGURES.map(([name, label, hint]) => (
              <Figure label={label} hint={hint} metric={name} value={count(totals[name])} />
            ))}
          </dl>
        </Card>
        <Rules view={view} doubts={doubts} mayChange={isAdmin(c)} />
        <Flooding view={view} doubts={doubts} />
        <ChoiceForm
          path={PATH}
          view={view}
          fields={[
            {
              label: 'By',
              name: 'by',
              value: by,
              options: DOUBTS_GROUPS.map((name) => [name, groupLabel(name)] as const),
            },
          ]}
        />
        <Card title={`By ${groupWord(by)}`} aside={<CsvLink {...here} />}>
          <Table
            caption={`Attributed installs by ${groupWord(by)}`}
            rows={rows}
            columns={groupColumns(view, by, share)}
            totals={['Total', ...FIGURES.map(([name]) => count(totals[name])), share(totals)]}
          />
          {rows.length < groups.length && (
            <p class="hint">{`The first ${count(rows.length)} of ${count(groups.length)} rows; CSV has all.`}</p>
          )}
          <Zone view={view} />
        </Card>
      </>
    );
  });
}

export const doubts: PageRecord = {
  path: PATH,
  title: 'Doubtful installs',
  links: [{ group: 'Acquire', icon: 'M4 14V2.5M4 3h8l-2 2.5L12 8H4' }],
  savable: true,
  routes: pageRoutes().get('/', doubtsPage),
};
