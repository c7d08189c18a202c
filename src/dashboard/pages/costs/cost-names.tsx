import { listInventory } from '#creatives';
import type { Database } from '#db';
import { isolate } from '#lib/input/isolate';
import { listCostNames, listUnmatchedNames, namesText } from '#money';
import { count } from '../../shell/format.ts';
import { Action, Card, cutMiddle, NamePath, Table } from '../../shell/parts.tsx';
import { type View, viewQuery } from '../../shell/view.ts';

/** The number of names offered per level. */
const OFFERED = 100;

/** Campaigns, ad sets and creatives that a name can be mapped to, the newest of each. */
async function readTargets(db: Database, applicationId: string) {
  const of = (level: 'campaign' | 'adset' | 'creative') =>
    listInventory(db, applicationId, { level, q: '' }).then((items) => items.slice(0, OFFERED));
  const [campaigns, adsets, creatives] = await Promise.all([of('campaign'), of('adset'), of('creative')]);
  return [
    { label: 'Campaigns', items: campaigns },
    { label: 'Ad sets', items: adsets },
    { label: 'Creatives', items: creatives },
  ];
}

const Names = ({ campaign, adset, creative }: { campaign: string; adset: string; creative: string }) => (
  <span title={namesText({ campaign, adset, creative })}>
    <NamePath names={[campaign, adset, creative].filter((name) => name !== '')} />
  </span>
);

/** The names in uploaded costs that the application does not have, with a form to map them, and the existing mappings. */
export async function CostNamesCards({
  db,
  view,
  mayChange,
}: {
  db: Database;
  view: View;
  mayChange: boolean;
}) {
  const { id } = view.application;
  const [unmatched, mapped] = await Promise.all([listUnmatchedNames(db, id), listCostNames(db, id)]);
  if (unmatched.length === 0 && mapped.length === 0) return null;
  const targets = mayChange && unmatched.length > 0 ? await readTargets(db, id) : [];
  // One form for all names, because repeating the list of targets for each of fifty names would take megabytes.
  const options = (
    <select name="to" id="field-to" required>
      <option value="">Choose …</option>
      {targets.map(({ label, items }) => (
        <optgroup label={label}>
          {items.map((item) => (
            <option value={item.id}>
              {[item.campaign, item.adset, item.name]
                .flatMap((name) => (name === null ? [] : [isolate(cutMiddle(name))]))
                .join(' › ')}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
  return (
    <>
      {unmatched.length > 0 && (
        <Card title="Names without a match" id="names">
          <p class="muted">
            No campaign, ad set or creative in {view.application.name} has these names. Their spend counts in
            totals only. Map one to a campaign, ad set or creative: its stored costs move there, and later
            uploads follow.
          </p>
          {mayChange ? (
            <form method="post" action={`/costs/names${viewQuery(view)}`} class="row">
              <div class="field">
                <label for="field-name">Name</label>
                <select name="names" id="field-name" required>
                  {unmatched.map((name) => (
                    <option value={JSON.stringify([name.campaign, name.adset, name.creative])}>
                      {`${namesText(name)} (${count(name.rows)} ${name.rows === 1 ? 'row' : 'rows'})`}
                    </option>
                  ))}
                </select>
              </div>
              <div class="field">
                <label for="field-to">Map to</label>
                {options}
              </div>
              <button type="submit">Map</button>
            </form>
          ) : (
            <ul>
              {unmatched.map((name) => (
                <li>
                  <Names {...name} />
                </li>
              ))}
            </ul>
          )}
        </Card>
      )}
      {mapped.length > 0 && (
        <Card title="Mapped names">
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
              ...(mayChange
                ? [
                    {
                      label: 'Actions',
                      cell: (name: (typeof mapped)[number]) => (
                        <Action
                          to={`/costs/names/remove${viewQuery(view)}`}
                          label="Remove"
                          kind="quiet"
                          fields={{ campaign: name.campaign, adset: name.adset, creative: name.creative }}
                        />
                      ),
                    },
                  ]
                : []),
            ]}
          />
        </Card>
      )}
    </>
  );
}
