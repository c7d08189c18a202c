import { INVENTORY_LEVELS, listInventory } from '#creatives';
import type { Database } from '#db';
import { count } from '#lib/format';
import { isolate } from '#lib/input/isolate';
import { listCostNames, listUnmatchedNames, namesText } from '#money';
import { Action, cutMiddle, FoldedCard, NamePath } from '../../shell/parts.tsx';
import { rowsText } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { LABELS } from '../../tables/inventory-table.tsx';
import { Table } from '../../tables/table.tsx';

/** The number of names offered per level. */
const OFFERED = 100;
/** The number of names in the line of the closed strip. */
const NAMED = 3;

/** Campaigns, ad sets and creatives that a name can be mapped to, the newest of each. */
const readTargets = (db: Database, applicationId: string) =>
  Promise.all(
    INVENTORY_LEVELS.map(async (level) => ({
      label: LABELS[level],
      items: (await listInventory(db, applicationId, { level, q: '' })).slice(0, OFFERED),
    })),
  );

type Three = { campaign: string; adset: string; creative: string };

const namesOf = ({ campaign, adset, creative }: Three) =>
  [campaign, adset, creative].filter((name) => name !== '');

const Names = (names: Three) => (
  <span title={namesText(names)}>
    <NamePath names={namesOf(names)} />
  </span>
);

/** Names for an option, which holds text only. */
const pathText = (names: readonly (string | null)[]) =>
  names.flatMap((name) => (name === null ? [] : [isolate(cutMiddle(name))])).join(' › ');

type NamesProps = { db: Database; view: View; mayChange: boolean };

/** The names in costs that the application does not have, as a line that opens to the form that maps them. Nothing if all names match. */
export async function UnmatchedNames({ db, view, mayChange }: NamesProps) {
  const { id, name: application } = view.application;
  const unmatched = await listUnmatchedNames(db, id);
  if (unmatched.length === 0) return null;
  const targets = mayChange ? await readTargets(db, id) : [];
  const named = unmatched.slice(0, NAMED);
  return (
    <details class="fold-line" id="names">
      <summary>
        <span class="status waiting">
          {unmatched.length === 1 ? '1 name' : `${count(unmatched.length)} names`} without a match
        </span>
        <span class="muted">
          {named.map((names, index) => (
            <>
              {index > 0 && ', '}
              <Names {...names} />
            </>
          ))}
          {unmatched.length > NAMED && ` and ${count(unmatched.length - NAMED)} more`}
        </span>
        <span class="way">{mayChange ? 'Map names' : 'Show names'}</span>
      </summary>
      <p class="hint">
        No campaign, ad set or creative in {application} has{' '}
        {unmatched.length === 1 ? 'this name' : 'these names'}, so the spend counts in totals only.
        {mayChange && ' Once mapped, its stored costs move to what you choose, and later uploads follow.'}
      </p>
      {mayChange ? (
        // One form for all names, because repeating the list of targets for each of fifty names would take megabytes.
        <form method="post" action={`/costs/names${viewQuery(view)}`} class="row">
          <div class="field">
            <label for="field-name">Name</label>
            <select name="names" id="field-name" required>
              {unmatched.map((names) => (
                <option value={JSON.stringify([names.campaign, names.adset, names.creative])}>
                  {`${pathText(namesOf(names))} (${rowsText(names.rows)})`}
                </option>
              ))}
            </select>
          </div>
          <div class="field">
            <label for="field-to">Map to</label>
            <select name="to" id="field-to" required>
              <option value="">Choose …</option>
              {targets.map(({ label, items }) => (
                <optgroup label={label}>
                  {items.map((item) => (
                    <option value={item.id}>{pathText([item.campaign, item.adset, item.name])}</option>
                  ))}
                </optgroup>
              ))}
            </select>
          </div>
          <button type="submit">Map</button>
        </form>
      ) : (
        <ul>
          {unmatched.map((names) => (
            <li>
              <Names {...names} />
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

/** The names that were mapped, below everything else. */
export async function MappedNames({ db, view, mayChange }: NamesProps) {
  const mapped = await listCostNames(db, view.application.id);
  if (mapped.length === 0) return null;
  return (
    <FoldedCard title={`Mapped names (${count(mapped.length)})`}>
      <Table
        caption="Mapped names"
        rows={mapped}
        columns={[
          { label: 'Name in uploads', wrap: true, cell: (name) => <Names {...name} /> },
          {
            label: 'Stored as',
            wrap: true,
            cell: (name) => (
              <Names campaign={name.toCampaign} adset={name.toAdset} creative={name.toCreative} />
            ),
          },
        ]}
        actions={
          mayChange &&
          (({ campaign, adset, creative }) => (
            <Action
              to={`/costs/names/remove${viewQuery(view)}`}
              label="Remove"
              kind="quiet"
              fields={{ campaign, adset, creative }}
            />
          ))
        }
      />
    </FoldedCard>
  );
}
