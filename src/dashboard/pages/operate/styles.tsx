import type { Child } from 'hono/jsx';
import { AppError } from '#http';
import { amountsIn, money } from '#lib/format';
import { LineChart } from '../../charts/chart.tsx';
import { Bar, Interval } from '../../charts/shapes.tsx';
import { Field } from '../../forms/field.tsx';
import { Copyable } from '../../shell/copyable.tsx';
import { Icon } from '../../shell/icons.tsx';
import { Info } from '../../shell/info.tsx';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Action, Blank, Card, FoldedCard, Notice } from '../../shell/parts.tsx';
import { readView } from '../../shell/view.ts';
import { ROLE_NAMES } from '../../shell/words.ts';
import { Pill } from '../../tables/compared.tsx';
import { Table } from '../../tables/table.tsx';

import { ChoiceParts, CohortCells, FigureCards, Sections, Timeline } from './style-samples.tsx';

/** A part in one state, with the state's name. */
const State = ({ name, children }: { name: string; children?: Child }) => (
  <div class="state">
    <span class="muted">{name}</span>
    <div>{children}</div>
  </div>
);

const ROWS = [
  { name: 'Noob vs pro', spend: 900, roas: 0.54, by: 0.04 },
  { name: 'ألغاز القلعة', spend: 744, roas: 0.97, by: -0.09 },
  { name: 'Satisfying loop', spend: 666, roas: 1.14, by: 0 },
];
const VALUES = [500, 590, 510, 400, 580, 660, 470, 560, 610, 270];
const BEFORE = [490, 520, 460, 340, 410, 570, 330, 500, 480, 340];

const COLOURS = [
  ...['bg', 'panel', 'line', 'line-soft', 'line-strong', 'ink', 'ink-2', 'ink-3', 'accent', 'accent-soft'],
  ...['good', 'good-soft', 'bad', 'bad-soft', 'warm', 'warm-soft'],
];

const Colours = () => (
  <ul class="swatches">
    {COLOURS.map((name) => (
      <li>
        <svg class="swatch" fill={`var(--${name})`} aria-hidden="true">
          <rect width="100%" height="100%" />
        </svg>
        <code>--{name}</code>
      </li>
    ))}
  </ul>
);

const BUTTONS = [
  ['Filled', {}],
  ['Hover', { class: 'is-hover' }],
  ['Active', { class: 'is-hover is-active' }],
  ['Focus', { class: 'is-focus' }],
  ['Disabled', { disabled: true }],
  ['Loading', { 'aria-busy': 'true' }],
  ['Quiet', { class: 'quiet' }],
] as const;

const FIELDS = [
  ['Field', { label: 'Name', name: 'style-name', value: 'Puzzle Quest' }],
  ['With a hint', { label: 'Campaign', name: 'style-hint', hint: 'Empty: named after the week' }],
  ['Error', { label: 'Limit', name: 'style-error', value: 'x' }],
  ['List', { label: 'Role', name: 'style-list', options: Object.entries(ROLE_NAMES), value: 'viewer' }],
] as const;
const FAULTS = [{ path: 'style-error', message: 'must be a number' }];

const INPUTS = [
  ['Focus', { label: 'Search', name: 'style-focus', value: 'Puzzle', class: 'is-focus' }],
  ['Disabled', { label: 'Currency', name: 'style-disabled', value: 'USD', disabled: true }],
] as const;

const Controls = () => (
  <Card title="Controls">
    <div class="states">
      {BUTTONS.map(([name, attributes]) => (
        <State name={name}>
          <button type="button" {...attributes}>
            Save
          </button>
        </State>
      ))}
      <State name="Danger">
        <Action to="/_styles" label="Remove" kind="danger" />
      </State>
      <State name="Copy">
        <Copyable text="https://example.test/t/abc" label="link" />
      </State>
    </div>
    <div class="states">
      {FIELDS.map(([name, field]) => (
        <State name={name}>
          <Field {...field} faults={FAULTS} />
        </State>
      ))}
      {INPUTS.map(([state, { label, name, ...attributes }]) => (
        <State name={state}>
          <div class="field">
            <label for={`field-${name}`}>{label}</label>
            <input id={`field-${name}`} {...attributes} />
          </div>
        </State>
      ))}
    </div>
  </Card>
);

const PILLS = [
  ['Better', 'revenue', 0.124],
  ['Worse', 'revenue', -0.018],
  ['Neutral', 'spend', 0.07],
] as const;

const Figures = () => (
  <Card title="Figures">
    <div class="states">
      {PILLS.map(([state, name, by]) => (
        <State name={state}>
          <Pill name={name} change={{ in: 'share', by }} currency="usd" />
        </State>
      ))}
      <State name="Badges">
        <span class="badge good">Counted</span> <span class="badge waiting">Queued</span>{' '}
        <span class="badge bad">Parked</span> <span class="badge">Archived</span>
      </State>
      <State name="Share">
        <Bar share={0.62} />
      </State>
      <State name="Interval">
        <Interval low={-0.2} value={0.1} high={0.5} extent={0.6} isReal={false} />
        <Interval low={0.1} value={0.3} high={0.5} extent={0.6} isReal />
        <Interval low={-0.5} value={-0.3} high={-0.1} extent={0.6} isReal />
      </State>
      <State name="Info">
        <Info about="this figure">
          <p>A caveat stands behind the figure that it is about.</p>
        </Info>
      </State>
      <State name="Icons">
        <Icon name="search" /> <Icon name="share" /> <Icon name="info" />
      </State>
    </div>
    <LineChart
      title="Revenue by day"
      labels={VALUES.map((_, index) => `Day ${index + 1}`)}
      format={amountsIn('usd')}
      partial={[VALUES.length - 1]}
      markers={[{ index: 3, text: 'Version 2.3 released' }]}
      series={[
        { name: 'Revenue', values: VALUES },
        { name: 'Revenue, before', values: BEFORE, before: 0, isWhole: true },
      ]}
    />
  </Card>
);

const Tables = () => (
  <Card title="Table">
    <Table
      caption="Creatives"
      rows={ROWS}
      columns={[
        { label: 'Creative', cell: (row) => <bdi>{row.name}</bdi> },
        {
          label: 'Spend',
          unit: 'USD',
          numeric: true,
          sortHref: '/_styles',
          sorted: 'descending',
          cell: (row) => (
            <>
              {money(row.spend, 'usd')}{' '}
              <Pill name="spend" change={{ in: 'share', by: row.by }} currency="usd" />
            </>
          ),
        },
        {
          label: 'ROAS',
          numeric: true,
          classOf: (row) => `heat h${Math.ceil(row.roas * 8)}`,
          cell: (row) => `${(row.roas * 100).toFixed(0)}%`,
        },
      ]}
      totals={['All', money(2310, 'usd'), '71%']}
    />
  </Card>
);

/** Every part in every state, for whoever works on the dashboard. */
async function stylesPage(c: DashboardContext) {
  const { hostname } = new URL(c.req.url);
  if (hostname !== 'localhost' && hostname !== '127.0.0.1') {
    throw new AppError('not_found', 'Page not found');
  }
  const view = await readView(c);
  return renderPage(
    c,
    { view, tools: <button type="button">New creative</button> },
    <>
      <Card title="Colour">
        <Colours />
      </Card>
      <Card title="Type">
        <h1>Page title</h1>
        <h2>Title of a panel</h2>
        <p>Text, 13.5 px. Headings are nouns; every sentence is in sentence case.</p>
        <p class="hint">A hint, 12.5 px.</p>
        <p class="fault">A fault names the field and says what it must be.</p>
      </Card>
      <Controls />
      {view && (
        <>
          <ChoiceParts view={view} />
          <FigureCards env={c.env} view={view} />
        </>
      )}
      <Figures />
      <Tables />
      {view && <CohortCells view={view} />}
      <Timeline />
      <Sections />
      <Notice>Something worth knowing.</Notice>
      <Notice kind="good">Saved.</Notice>
      <Notice kind="bad">Somebody must act.</Notice>
      <FoldedCard title="A form that opens when it is needed">
        <Field label="Name" name="folded" />
      </FoldedCard>
      <Card title="Empty">
        <p class="empty">Nothing here yet.</p>
        <Blank text="No costs in this period." way={['Upload costs', '/_styles']} />
      </Card>
    </>,
  );
}

export const styles: PageRecord = {
  path: '/_styles',
  title: 'Parts',
  routes: pageRoutes().get('/', stylesPage),
};
