import { type Arrivals, readArrivals } from '#counting';
import { database } from '#db';
import { settingsOf } from '#env';
import { isolate } from '#lib/input/isolate';
import { type ApplicationRow, revealApiKey } from '#teams';
import { readForm } from '../../forms/form.ts';
import { redirectShowing, takeShown } from '../../forms/show-once.ts';
import { Checklist, readProgress, SETUP_COOKIE, SetupBar } from '../../shell/checklist.tsx';
import { keepChoice } from '../../shell/cookies.ts';
import { admin, callerOf, isAdmin } from '../../shell/guard.ts';
import { NeedsApplication } from '../../shell/needs-application.tsx';
import { renderPage } from '../../shell/page.tsx';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card, Notice } from '../../shell/parts.tsx';
import { readView, requireView, type View, viewQuery } from '../../shell/view.ts';
import { TestCalls } from '../creatives/test-calls.tsx';

const PATH = '/get-started';

/** What the first event is, so that it changes no revenue. */
const HELLO = { event: { type: 'custom', payload: { event_name: 'hello' } } };

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

/** How to send the first event, with lights that turn green once the device and the event have arrived. */
export async function GetStarted(c: DashboardContext, view: View, arrivals: Arrivals, apiKey?: string) {
  const { application } = view;
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
      <Card title={`Send the first event of ${isolate(application.name)}`} id="first-event">
        <p>
          Paste this into a terminal. Your backend will do the same: fetch a token for a device, then send
          events with it.
        </p>
        <TestCalls c={c} call={HELLO} apiKey={apiKey} keyPath={`/get-started${viewQuery(view)}`} />
        <h3>What has arrived</h3>
        <Lights application={application} arrivals={arrivals} />
        <p>
          <a href={`/debugger${viewQuery(view)}`}>Watch it in the debugger</a>
        </p>
      </Card>
    </>
  );
}

async function getStartedPage(c: DashboardContext) {
  const view = await readView(c);
  const page = { current: '/' };
  if (!view) {
    return renderPage(c, page, <NeedsApplication mayCreate={isAdmin(c)} />);
  }
  const arrivals = await readArrivals(c.env, view.application);
  const { apiKey, applicationId } = await takeShown(c, PATH);
  const own = applicationId === view.application.id ? apiKey : undefined;
  return renderPage(c, { ...page, view }, await GetStarted(c, view, arrivals, own));
}

const routes = pageRoutes()
  .get('/', (c) => getStartedPage(c))
  .post('/', admin, async (c) => {
    const view = await readView(c);
    if (!view) return c.redirect(PATH, 303);
    const secret = settingsOf(c.env).KEY_ENCRYPTION_SECRET;
    const apiKey = await revealApiKey(callerOf(c), view.application, secret);
    const shown = { apiKey, applicationId: view.application.id };
    return redirectShowing(c, PATH, shown, `${PATH}${viewQuery(view)}#first-event`);
  })
  .post('/close', admin, async (c) => {
    await readForm(c);
    keepChoice(c, SETUP_COOKIE, 'closed');
    return c.redirect(`/${new URL(c.req.url).search}`, 303);
  })
  .get('/steps', async (c) => {
    const view = await requireView(c);
    const arrivals = await readArrivals(c.env, view.application);
    const progress = await readProgress(database(c.env.DB), view.application, arrivals.event);
    return c.html(<SetupBar view={view} progress={progress} person={c.get('person')} isClosed={false} />);
  })
  .get('/status', async (c) => {
    const view = await requireView(c);
    return c.json(await readArrivals(c.env, view.application));
  });

export const getStarted: PageRecord = {
  path: '/get-started',
  title: 'Get started',
  routes,
};
