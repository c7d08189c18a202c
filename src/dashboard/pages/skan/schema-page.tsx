import { database } from '#db';
import { AppError, type Fault } from '#http';
import { count } from '#lib/format';
import { NewConversionSchema, readSchema, type SchemaVersion, saveSchema } from '#skan';
import type { FormField } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import { checkForm, readForm, type Submitted } from '../../forms/form.ts';
import { dayText } from '../../shell/dates.ts';
import { redirectDone } from '../../shell/done.ts';
import { callerOf, isAdmin } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Action, Card, FoldedCard } from '../../shell/parts.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';
import { type Column, Table } from '../../tables/table.tsx';
import { coarseLines, fineLines, readCoarseLines, readFineLines } from './schema-lines.ts';

// The schema of conversion values: its versions, and a form for one of them.

const PATH = '/skan/schema';

const FIELDS: readonly FormField[] = [
  {
    label: 'From',
    name: 'valid_from',
    type: 'date',
    hint: 'It applies to postbacks that arrive from this day on, until the next version.',
    required: true,
  },
  { label: 'Currency', name: 'currency', maxlength: 3, required: true },
  {
    label: 'Fine values',
    name: 'fine',
    subject: 'Fine values,',
    isLong: true,
    hint: 'One per line, or pasted from a spreadsheet: the value from 0 to 63, the event, the lowest revenue, the highest. Only the value is needed; one amount means exactly that. Values that your app does not use may be left out.',
    placeholder: '0,install\n20,purchase,0.99,4.99',
  },
  {
    label: 'Coarse values',
    name: 'coarse',
    subject: 'Coarse values,',
    isLong: true,
    hint: 'The same after the window and low, medium or high. Window 1 is the first 3 days after the install, 2 is days 3 to 7, 3 is days 8 to 35.',
    placeholder: '1,low,install\n1,high,purchase,5,50',
  },
];

const valuesOf = (
  version: SchemaVersion | undefined,
  from: string,
  currency: string,
): Record<string, string> => ({
  valid_from: from,
  currency: (version?.currency ?? currency).toUpperCase(),
  fine: version ? fineLines(version) : '',
  coarse: version ? coarseLines(version) : '',
});

/** `edited`: the day of the version that the form replaces; empty for a new one. */
const VersionForm = ({
  view,
  edited,
  values,
  faults,
}: {
  view: View;
  edited: string;
  values: Record<string, string>;
  faults: readonly Fault[];
}) => (
  <form method="post" action={`${PATH}${viewQuery(view)}`} class="stack" novalidate>
    <input type="hidden" name="edited" value={edited} />
    <Fields fields={FIELDS} values={values} faults={faults} />
    <button type="submit">Save</button>
  </form>
);

const columnsOf = (view: View): Column<SchemaVersion>[] => [
  { label: 'From', cell: ({ valid_from }) => dayText(valid_from, view.today) },
  { label: 'Currency', cell: ({ currency }) => currency.toUpperCase() },
  { label: 'Fine values', numeric: true, cell: ({ fine }) => count(Object.keys(fine).length) },
  {
    label: 'Coarse values',
    numeric: true,
    cell: ({ coarse }) =>
      count(Object.values(coarse).reduce((sum, values) => sum + Object.keys(values ?? {}).length, 0)),
  },
];

/** The versions, and the form of the one that the address names, or else of a new one that begins as the latest. */
export async function schemaPage(c: DashboardContext, submitted: Submitted = {}) {
  const view = await requireView(c);
  const { versions } = await readSchema(database(c.env.DB), view.application.id);
  const edited = submitted.values?.edited ?? c.req.query('version') ?? '';
  const known = versions.find(({ valid_from }) => valid_from === edited);
  if (edited !== '' && !known) throw new AppError('not_found', 'Version not found');
  const { faults = [] } = submitted;
  const begins = known?.valid_from ?? view.today;
  const values = submitted.values ?? valuesOf(known ?? versions.at(-1), begins, view.application.currency);
  const mayChange = isAdmin(c);
  return renderPage(
    c,
    {
      title: 'Conversion values',
      within: <a href={`/skan${viewQuery(view)}`}>SKAdNetwork</a>,
      view,
      status: faults.length > 0 ? 400 : 200,
    },
    <>
      <Card title="Versions">
        <p class="muted">
          What the values mean that your app sets: an event, a range of revenue, or both. Reports use changes
          at once, also for postbacks that have arrived.
        </p>
        <Table
          caption="Versions of the conversion value schema"
          rows={versions.toReversed()}
          empty="None yet. Until there is one, no value means an event or revenue."
          columns={columnsOf(view)}
          actions={({ valid_from: version }) => (
            <>
              <a href={`${PATH}${viewQuery(view, { version })}#version`}>{mayChange ? 'Edit' : 'Show'}</a>{' '}
              {mayChange && (
                <Action
                  to={`${PATH}/remove${viewQuery(view)}`}
                  label="Remove"
                  kind="danger"
                  confirm={`Remove the version from ${dayText(version, view.today)}? Reports no longer use it, also for postbacks that have arrived.`}
                  fields={{ version }}
                />
              )}
            </>
          )}
        />
      </Card>
      <FoldedCard
        title={known ? `Version from ${dayText(known.valid_from, view.today)}` : 'Add a version'}
        id="version"
        open={known !== undefined || versions.length === 0 || faults.length > 0}
      >
        {known && mayChange && (
          <p>
            <a href={`${PATH}${viewQuery(view)}#version`}>Add a version instead</a>
          </p>
        )}
        <fieldset disabled={!mayChange}>
          <VersionForm view={view} edited={edited} values={values} faults={faults} />
        </fieldset>
      </FoldedCard>
    </>,
  );
}

/** The schema with the submitted version instead of the one that was edited, or what is wrong with the form. */
function readVersion(values: Record<string, string>, versions: readonly SchemaVersion[]) {
  const [fine, coarse] = [readFineLines(values.fine ?? ''), readCoarseLines(values.coarse ?? '')];
  const { valid_from, currency, edited } = values;
  const others = versions.filter((version) => version.valid_from !== edited);
  const { data, faults } = checkForm(NewConversionSchema, {
    versions: [...others, { valid_from, currency, fine: fine.meanings, coarse: coarse.meanings }],
  });
  const own = (faults ?? [])
    .map(({ path, message }) => ({ path: path.replace(/^versions(?:\.\d+\.)?/, ''), message }))
    .map((fault) => fine.locate(fault) ?? coarse.locate(fault) ?? fault)
    .map((fault) => (fault.path === '' ? { ...fault, path: 'valid_from' } : fault));
  const all = [...fine.faults, ...coarse.faults, ...own];
  return all.length > 0 || data === null ? { data: null, faults: all } : { data, faults: null };
}

export async function saveVersion(c: DashboardContext) {
  const view = await requireView(c);
  const values = await readForm(c);
  const { versions } = await readSchema(database(c.env.DB), view.application.id);
  const { data, faults } = readVersion(values, versions);
  if (!data) return schemaPage(c, { values, faults });
  await saveSchema(callerOf(c), view.application, data.versions);
  return redirectDone(c, `${PATH}${viewQuery(view)}`, 'saved');
}

export async function removeVersion(c: DashboardContext) {
  const view = await requireView(c);
  const { version } = await readForm(c);
  const { versions } = await readSchema(database(c.env.DB), view.application.id);
  const others = versions.filter(({ valid_from }) => valid_from !== version);
  if (others.length === versions.length) throw new AppError('not_found', 'Version not found');
  await saveSchema(callerOf(c), view.application, others);
  return redirectDone(c, `${PATH}${viewQuery(view)}`, 'deleted');
}
