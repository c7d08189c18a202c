import { Hono } from 'hono';
import { type Arrivals, readArrivals } from '#counting';
import { database } from '#db';
import { settingsOf } from '#env';
import { atLeast } from '#members';
import { type ApplicationRow, revealApiKey } from '#teams';
import { Checklist, readProgress } from './checklist.tsx';
import { callerOf, type DashboardContext, type DashboardEnv, requirePerson, requireRole } from './guard.ts';
import { renderPage } from './page.tsx';
import { Action, Card, Copyable, Notice } from './parts.tsx';
import { redirectShowing, takeShown } from './show-once.ts';
import { readView, requireView, type View, viewQuery } from './view.ts';

const PATH = '/get-started';

/** Two calls that a shell can run unchanged: one fetches a token for a device, the other sends an event. */
function firstCalls(origin: string, serviceName: string, apiKey: string, now: number): string {
  const at = new Date(now).toISOString();
  const metrics = {
    type: 'device-metrics',
    created_at: at,
    data: { device_name: 'Test device', device_model: 'Pixel 9', os_system: 'Android 16', timezone: 'UTC' },
  };
  const event = {
    type: 'custom',
    created_at: at.slice(0, 19).replace('T', ' '),
    creativeToken: "'$TOKEN'",
    payload: { event_name: 'hello' },
  };
  const headers = `-H '${serviceName}-api-key: ${apiKey}' -H 'Content-Type: application/json'`;
  return [
    `TOKEN=$(curl -s ${origin}/fetch-token \\`,
    `  ${headers} \\`,
    `  -d '${JSON.stringify(metrics)}' \\`,
    `  | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
    '',
    `curl ${origin}/webhook \\`,
    `  ${headers} \\`,
    `  -d '${JSON.stringify(event)}'`,
  ].join('\n');
}

const Light = ({ on, name, text }: { on: boolean; name: keyof Arrivals; text: string }) => (
  <li>
    <span class={`light ${on ? 'on' : 'waiting'}`} data-light={name} aria-hidden="true" />
    {text}: <strong data-light-text={name}>{on ? 'arrived' : 'waiting'}</strong>
  </li>
);

const Lights = ({ application, arrivals }: { application: ApplicationRow; arrivals: Arrivals }) => (
  <div data-watch={`/get-started/status?app=${application.id}`} role="status">
    <ul class="lights">
      <Light on={arrivals.device} name="device" text="Device token" />
      <Light on={arrivals.event} name="event" text="First event" />
    </ul>
  </div>
);

/**
 * How to send the first event, with lights that turn green once the device and the event have arrived. The calls contain the API key only if an
 * admin asked for it: a page that any link can open must neither show a secret nor fill the audit log.
 */
export async function GetStarted(c: DashboardContext, view: View, arrivals: Arrivals, apiKey?: string) {
  const { application } = view;
  const mayShow = atLeast(c.get('person').role, 'admin');
  const shown = apiKey ?? (mayShow ? '<API key>' : '<API key: ask an admin>');
  const calls = firstCalls(new URL(c.req.url).origin, settingsOf(c.env).SERVICE_NAME, shown, Date.now());
  const progress = await readProgress(database(c.env.DB), application, arrivals.event);
  return (
    <>
      <Checklist view={view} progress={progress} person={c.get('person')} />
      {!application.dataCollection && (
        <Notice kind="bad">
          Data collection for {application.name} is off, so every event is refused.{' '}
          <a href={`/settings/applications/${application.id}`}>Turn it on</a>
        </Notice>
      )}
      <Card title={`Send the first event of ${application.name}`} id="first-event">
        <p>
          Paste this into a terminal. Your backend will do the same: fetch a token for a device, then send
          events with it.
        </p>
        <Copyable text={calls} label="the two calls" lines />
        <p class="muted">
          The API key is for your servers only, never inside the app. Showing it is recorded in the audit log.
        </p>
        {mayShow && apiKey === undefined && (
          <Action to={`/get-started${viewQuery(view)}`} label="Show with the API key" />
        )}
        <h3>What has arrived</h3>
        <Lights application={application} arrivals={arrivals} />
        <p>
          <a href={`/debugger${viewQuery(view)}`}>Watch it in the debugger</a>
        </p>
      </Card>
    </>
  );
}

export const NeedsApplication = ({ mayCreate }: { mayCreate: boolean }) => (
  <Card title="Create your first application">
    <p>
      An application is one app or game, with its own API key, time zone and currency. Your backend sends its
      events with that key.
    </p>
    {mayCreate ? (
      <a class="button" href="/settings/applications">
        Create an application
      </a>
    ) : (
      <p>Ask an admin of your team to create one.</p>
    )}
  </Card>
);

async function getStartedPage(c: DashboardContext) {
  const view = await readView(c, Date.now());
  const page = { title: 'Get started', current: '/' };
  if (!view) {
    return renderPage(c, page, <NeedsApplication mayCreate={atLeast(c.get('person').role, 'admin')} />);
  }
  const arrivals = await readArrivals(c.env, view.application);
  const { apiKey, applicationId } = await takeShown(c, PATH);
  const own = applicationId === view.application.id ? apiKey : undefined;
  return renderPage(c, { ...page, view }, await GetStarted(c, view, arrivals, own));
}

export const getStartedPages = new Hono<DashboardEnv>()
  .use('/get-started/*', requirePerson)
  .get('/get-started', (c) => getStartedPage(c))
  .post('/get-started', requireRole('admin'), async (c) => {
    const view = await readView(c, Date.now());
    if (!view) return c.redirect(PATH, 303);
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    const apiKey = await revealApiKey(callerOf(c), view.application, secret);
    const shown = { apiKey, applicationId: view.application.id };
    return redirectShowing(c, PATH, shown, `${PATH}${viewQuery(view)}#first-event`);
  })
  .get('/get-started/status', async (c) => {
    const view = await requireView(c);
    return c.json(await readArrivals(c.env, view.application));
  });
