import { RATIOS } from '#lib/format';
import { FiguresPanel, readChosen } from '../../charts/figures-panel.tsx';
import { Field } from '../../forms/field.tsx';
import { FormSection } from '../../forms/form-section.tsx';
import { Filters } from '../../shell/filters.tsx';
import { Card, FormMenu } from '../../shell/parts.tsx';
import type { View } from '../../shell/view.ts';
import { CohortTable } from '../../tables/cohort-table.tsx';
import { ColumnsMenu } from '../../tables/columns.tsx';
import { readCompared } from '../../tables/compared.tsx';
import { CostTabs } from '../costs/exchange-rates.tsx';
import { StatusBadge, TimelineEntry } from './event-parts.tsx';

// The larger parts, for the page of parts.

const PATH = '/_styles';
const CARDS = ['revenue', 'installs', 'arpdau', 'spend', 'roas_d7', 'profit'] as const;

/** What chooses the figures of a page: the bar with a chip, tabs with tools, and menus that are open. */
export const ChoiceParts = ({ view }: { view: View }) => (
  <Card title="Filters, tabs and sheets">
    <Filters
      view={{ ...view, filters: { country: ['de', 'at'] } }}
      path={PATH}
      chips={[
        { name: 'country', value: 'de', label: 'Germany' },
        { name: 'country', value: 'at', label: 'Austria' },
      ]}
    />
    <CostTabs view={view} current="/costs">
      <ColumnsMenu
        view={view}
        path={PATH}
        sets={[{ label: 'Summary', href: PATH, isChosen: true }]}
        chosen={CARDS}
      />
      <FormMenu label="New note" id="style-sheet" open>
        <form method="get" action={PATH} class="stack">
          <Field label="Note" name="style-note" hint="Shown in every chart" />
          <button type="submit">Save</button>
        </form>
      </FormMenu>
    </CostTabs>
  </Card>
);

/** Cards that choose what the chart below them shows, with the figures of the application. */
export async function FigureCards({ env, view }: { env: Env; view: View }) {
  return (
    <FiguresPanel
      view={view}
      path={PATH}
      chosen={readChosen({}, CARDS)}
      compared={await readCompared(env, view, { group_by: 'day', metrics: CARDS })}
      unit="day"
    />
  );
}

const DAYS = [0, 1, 3, 7, 14];
const COHORTS = [
  { cohort_from: '2026-01-05', cohort_to: '2026-01-11', size: 420, values: [1, 0.48, 0.31, 0.22, 0.12] },
  { cohort_from: '2026-01-12', cohort_to: '2026-01-18', size: 388, values: [1, 0.52, 0.35, 0.19, null] },
  { cohort_from: '2026-01-19', cohort_to: '2026-01-25', size: 402, values: [1, 0.44, 0.27, null, null] },
];

/** Cells that are whole, young (the last value of a cohort) and not known yet. */
export const CohortCells = ({ view }: { view: View }) => (
  <Card title="Cohorts">
    <CohortTable
      caption="Retention by cohort"
      path={PATH}
      view={view}
      asked={{ cohort: 'week', group: '' }}
      rows={COHORTS}
      days={DAYS}
      format={RATIOS}
      isHeat={(day) => day > 0}
      cell={({ size, values }, day) => {
        const at = DAYS.indexOf(day);
        const value = values[at] ?? null;
        const isYoung = at > 0 && (values[at + 1] ?? null) === null;
        return { value, eligible: value === null ? 0 : isYoung ? size / 4 : size };
      }}
    />
  </Card>
);

const MOMENTS = [
  { kind: '', time: '10:04', what: 'Session', status: 'queued' },
  { kind: 'money', time: '10:02', what: 'Purchase $4.99', status: 'counted' },
  { kind: '', time: '10:01', what: 'Session', status: 'duplicate' },
  { kind: '', time: '10:01', what: 'Custom event', status: 'ignored' },
  { kind: '', time: '10:00', what: 'Ad impression', status: 'parked' },
] as const;

export const Timeline = () => (
  <Card title="Timeline" aside={<span class="muted">Times in UTC</span>}>
    <ol class="timeline">
      {MOMENTS.map(({ kind, time, what, status }) => (
        <TimelineEntry
          kind={kind}
          at={`2026-01-05T${time}:00Z`}
          shown={`5 Jan, ${time}`}
          aside={<StatusBadge status={status} />}
        >
          {what}
        </TimelineEntry>
      ))}
      <TimelineEntry kind="start" at="2026-01-05T09:58:00Z" shown="5 Jan, 09:58">
        Clicked the ad
      </TimelineEntry>
    </ol>
  </Card>
);

const SECTIONS = [
  { title: 'General', says: 'Puzzle Quest', fields: [{ label: 'Name', name: 'section-name' }] },
  { title: 'Attribution', says: 'Clicks 7 d', fields: [{ label: 'Window', name: 'section-window' }] },
  { title: 'Limits', says: '', fields: [{ label: 'Limit', name: 'section-limit' }] },
];
const FAULTS = [{ path: 'section-limit', message: 'must be a number' }];

/** Sections of a long form: open, closed, and with a fault. */
export const Sections = () => (
  <Card title="Sections of a form">
    {SECTIONS.map((section, index) => (
      <FormSection
        {...section}
        id={`section-${section.title.toLowerCase()}`}
        open={index === 0}
        values={{ 'section-name': 'Puzzle Quest', 'section-limit': 'x' }}
        faults={FAULTS}
      />
    ))}
  </Card>
);
