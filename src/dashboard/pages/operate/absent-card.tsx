import type { AbsentField } from '#ingestion';
import { count } from '#lib/format';
import { exactTimeText } from '../../shell/dates.ts';
import { Card } from '../../shell/parts.tsx';
import { Table } from '../../tables/table.tsx';

/** Identifiers and names that said nothing, by field. */
export const AbsentCard = ({ fields, zone }: { fields: AbsentField[]; zone: string }) => (
  <Card
    title="Counted as absent"
    info={
      <p>
        Fields of the last two weeks that had a placeholder instead of an identifier or a name, such as
        <code>null</code>, a zero UUID or a macro that was not replaced. Whoever sends them should leave them
        out or fill them in.
      </p>
    }
  >
    <Table
      caption="Fields with placeholders"
      rows={fields}
      empty="None. Every identifier and name that came says something."
      columns={[
        { label: 'Field', cell: ({ path }) => <code>{path}</code> },
        { label: 'Why', wrap: true, cell: ({ message }) => message },
        { label: 'Endpoint', cell: ({ endpoint }) => endpoint },
        { label: 'Times', numeric: true, cell: ({ count: times }) => count(times) },
        { label: `Last (${zone})`, cell: ({ lastAt }) => exactTimeText(lastAt, zone) },
      ]}
    />
  </Card>
);
