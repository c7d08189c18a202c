import type { Child } from 'hono/jsx';
import { count, percent, RATIOS } from '#lib/format';
import type { reportFunnel } from '#reports';
import { Bar } from '../../charts/shapes.tsx';
import { Card } from '../../shell/parts.tsx';
import type { Here } from '../../shell/view.ts';
import { GroupCell, groupLabel, groupWord } from '../../tables/groups.tsx';
import { Table } from '../../tables/table.tsx';
import { labelOf } from './funnel-steps.tsx';

const MAX_MULTIPLES = 12;

/** A step of one group. */
export type FunnelRow = Awaited<ReturnType<typeof reportFunnel>>['data'][number];

/** The rows of each group of a funnel, in the order of the steps. */
function groupsOf(rows: readonly FunnelRow[], steps: number): FunnelRow[][] {
  return Array.from({ length: Math.ceil(rows.length / steps) }, (_, index) =>
    rows.slice(index * steps, (index + 1) * steps),
  );
}

/** The largest groups, each with a funnel of its own at the same scale. The table has all. */
const Multiples = ({
  groups,
  nameOf,
}: {
  groups: readonly FunnelRow[][];
  nameOf: (row: FunnelRow) => Child;
}) => {
  const shown = groups.slice(0, MAX_MULTIPLES);
  const places = RATIOS.places(shown.flat().flatMap((row) => row.from_first ?? []));
  return (
    <>
      <ul class="multiples">
        {shown.map((rows) => (
          <li>
            <h3>{rows[0] && nameOf(rows[0])}</h3>
            <dl>
              {rows.map((row, index) => (
                <div title={`${labelOf(row.step)}: ${count(row.devices)}`}>
                  <dt>{labelOf(row.step)}</dt>
                  <dd>
                    <Bar share={row.from_first ?? 0} />
                    <span class="number">
                      {index === 0 ? count(row.devices) : percent(row.from_first, places)}
                    </span>
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
      {groups.length > shown.length && (
        <p class="hint">{`The ${shown.length} largest of ${count(groups.length)}; the table has all.`}</p>
      )}
    </>
  );
};

/** The funnels of the groups, side by side and as a table. `rows` are those of all groups, group by group. */
export const FunnelGroups = ({
  here,
  group,
  steps,
  rows,
}: {
  here: Required<Here>;
  group: string;
  steps: readonly string[];
  rows: readonly FunnelRow[];
}) => {
  const groups = groupsOf(rows, steps.length);
  return (
    <Card title={`By ${groupWord(group)}`}>
      <Multiples groups={groups} nameOf={(row) => <GroupCell {...here} name={group} row={row} />} />
      <details class="fold">
        <summary>Show as a table</summary>
        <Table
          caption={`Devices that reach each step, by ${groupWord(group)}`}
          rows={groups}
          kind="funnel"
          empty="No devices were acquired in this period."
          columns={[
            {
              label: groupLabel(group),
              cell: ([row]) => row && <GroupCell {...here} name={group} row={row} />,
            },
            ...steps.map((step, index) => ({
              label: labelOf(step),
              numeric: true,
              cell: (rows: FunnelRow[]) => (
                <>
                  {index === 0
                    ? count(rows[index]?.devices)
                    : `${count(rows[index]?.devices)} (${percent(rows[index]?.from_first)})`}
                  <Bar share={rows[index]?.from_first ?? 0} />
                </>
              ),
            })),
          ]}
        />
      </details>
    </Card>
  );
};
