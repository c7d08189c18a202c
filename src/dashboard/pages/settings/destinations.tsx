import { database } from '#db';
import {
  changeDestination,
  createDestination,
  DestinationChanges,
  deleteDestination,
  KIND_NAMES,
  kindOf,
  listDestinations,
  NewDestination,
  ReplayRequest,
  replayDeliveries,
  rotateSecret,
  testDestination,
} from '#destinations';
import { NOTHING } from '#lib/format';
import { NETWORKS } from '#networks';
import { askDestination } from '#operations';
import { type ApplicationRow, getApplication } from '#teams';
import { again, readForm, requireForm, type Submitted } from '../../forms/form.ts';
import { redirectShowing } from '../../forms/show-once.ts';
import { changing, redirectDone } from '../../shell/done.ts';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Blank, Card, Notice } from '../../shell/parts.tsx';
import { applicationsOf } from '../../shell/view.ts';
import { outboundName } from '../../shell/words.ts';
import { Table } from '../../tables/table.tsx';
import { DestinationFields, toDestination, valuesOf } from './destination-form.tsx';
import {
  deliveryPage,
  destinationPage,
  lastDelivery,
  own,
  PATH,
  pathOf,
  State,
  shareFailing,
} from './destination-page.tsx';
import { renderSettings } from './settings-page.tsx';

/** Of further destinations, the list shows what is in the database. */
const MAX_ASKED = 50;

async function listPage(c: DashboardContext) {
  const applications = new Map((await applicationsOf(c)).map((row) => [row.id, row]));
  const listed = await listDestinations(database(c.env.DB), [...applications.keys()]);
  const rows = await Promise.all(
    listed.map(async (destination, at) => ({
      destination,
      application: applications.get(destination.applicationId),
      health: at < MAX_ASKED ? await askDestination(c.env, destination.id) : null,
    })),
  );
  const mayChange = isAdmin(c);
  return renderSettings(
    c,
    {
      tools: mayChange && applications.size > 0 && (
        <a class="button" href={`${PATH}/new`}>
          New destination
        </a>
      ),
    },
    <Card title="Destinations">
      {rows.length === 0 ? (
        <Blank text="Nothing is sent anywhere yet. A destination passes counted events to your own server or to an ad network." />
      ) : (
        <Table
          caption="Destinations of the team"
          rows={rows}
          columns={[
            {
              label: 'Destination',
              wrap: true,
              cell: ({ destination: { id, kind, settings } }) => (
                <>
                  <a href={pathOf(id)}>{kindOf(kind).label}</a>
                  <div class="muted">{kindOf(kind).describe({ settings, credentials: {} })}</div>
                </>
              ),
            },
            {
              label: 'State',
              cell: ({ destination, health }) => <State offSince={destination.offSince} health={health} />,
            },
            { label: 'Application', cell: ({ application }) => <bdi>{application?.name}</bdi> },
            {
              label: 'Events',
              wrap: true,
              cell: ({ destination }) => destination.events.map(outboundName).join(', '),
            },
            {
              label: 'Last delivery',
              cell: ({ health, application }) =>
                health ? lastDelivery(health, application?.timezone ?? 'UTC') : NOTHING,
            },
            {
              label: 'Failing',
              numeric: true,
              hint: 'Share of failed attempts in this hour and the one before',
              cell: ({ health }) => (health ? shareFailing(health) : NOTHING),
            },
          ]}
        />
      )}
    </Card>,
  );
}

/** The kinds, and the presets of networks, as links to their forms. */
const Choice = ({ applications }: { applications: readonly ApplicationRow[] }) => {
  const presets = NETWORKS.flatMap(({ id, name, postback }) =>
    postback ? [[`kind=postback&preset=${id}`, `${name} postback`] as const] : [],
  );
  const kinds = KIND_NAMES.map((kind) => [`kind=${kind}`, kindOf(kind).label] as const);
  return (
    <>
      {applications.map(({ id, name }) => (
        <Card title={name}>
          <ul class="starts at-start">
            {[...kinds, ...presets].map(([query, label]) => (
              <li>
                <a class="button quiet" href={`${PATH}/new?app=${id}&${query}`}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </Card>
      ))}
    </>
  );
};

async function newPage(c: DashboardContext, { values, faults = [] }: Submitted = {}) {
  const { app, kind, preset } = c.req.query();
  if (app === undefined || kind === undefined || !KIND_NAMES.includes(kind)) {
    return renderSettings(c, { title: 'New destination' }, <Choice applications={await applicationsOf(c)} />);
  }
  const application = await getApplication(database(c.env.DB), c.get('person').team.id, app);
  const { label, unverified, source } = kindOf(kind);
  const found = NETWORKS.find(({ id }) => id === preset)?.postback;
  const doubt = found?.unverified ?? unverified;
  const query = new URLSearchParams({ app, kind, ...(preset ? { preset } : {}) });
  return renderSettings(
    c,
    { title: `New destination: ${label}` },
    <>
      {doubt !== null && (
        <Notice>Not verified: {doubt} Send a test, and compare the network’s figures.</Notice>
      )}
      <Card
        title={application.name}
        aside={source.startsWith('https') && <a href={source}>Its documentation</a>}
      >
        <form method="post" action={`${PATH}/new?${query}`} class="stack" novalidate>
          <DestinationFields
            kind={kind}
            isNew
            values={values ?? valuesOf(kind, { preset })}
            faults={faults}
          />
          <button type="submit">Create destination</button>
        </form>
      </Card>
    </>,
  );
}

const turn = (enabled: boolean) =>
  changing(pathOf(':id'), 'saved', (caller, id, { env }) => changeDestination(env, caller, id, { enabled }));

const replay = changing(pathOf(':id'), 'sent_again', async (caller, _id, c) => {
  await readForm(c);
  await replayDeliveries(c.env, caller, await own(c), await requireForm(c, ReplayRequest));
});

const remove = changing(PATH, 'deleted', (caller, id, { env }) => deleteDestination(env, caller, id));

const routes = pageRoutes()
  .get('/', (c) => listPage(c))
  .get('/new', admin, (c) => newPage(c))
  .post('/new', admin, again(newPage), async (c) => {
    const { app = '', kind = '' } = c.req.query();
    const values = await readForm(c);
    if (!KIND_NAMES.includes(kind)) return newPage(c);
    const body = { application_id: app, kind, ...toDestination(kind, values) };
    const data = await requireForm(c, NewDestination, () => body);
    const caller = callerOf(c);
    const application = await getApplication(caller.db, caller.team.id, app);
    const { destination, secret } = await createDestination(c.env, caller, application, data);
    const path = pathOf(destination.id);
    return secret === null ? redirectDone(c, path, 'created') : redirectShowing(c, path, { secret });
  })
  .get('/:id', (c) => destinationPage(c))
  .post('/:id', admin, again(destinationPage), async (c) => {
    const values = await readForm(c);
    const { id, kind } = (await own(c)).destination;
    const data = await requireForm(c, DestinationChanges, () => toDestination(kind, values));
    await changeDestination(c.env, callerOf(c), id, data);
    return redirectDone(c, pathOf(id), 'saved');
  })
  .post('/:id/test', admin, async (c) => {
    const found = await own(c);
    const result = await testDestination(c.env, callerOf(c), found);
    const path = pathOf(found.destination.id);
    if ('skipped' in result) return redirectShowing(c, path, { test: `Not sent: ${result.skipped}.` });
    const took = `in ${result.tookMs} ms`;
    const test =
      result.reason === null ? `Delivered: ${result.status} ${took}.` : `Failed ${took}: ${result.reason}.`;
    return redirectShowing(c, path, { test });
  })
  .post('/:id/rotate', admin, async (c) => {
    const { destination, secret } = await rotateSecret(c.env, callerOf(c), c.req.param('id'));
    return redirectShowing(c, pathOf(destination.id), { secret });
  })
  .post('/:id/on', admin, turn(true))
  .post('/:id/off', admin, turn(false))
  .post('/:id/replay', admin, replay)
  .post('/:id/remove', admin, remove)
  .get('/:id/deliveries/:event', (c) => deliveryPage(c));

export const destinations: PageRecord = {
  path: PATH,
  title: 'Destinations',
  routes,
};
