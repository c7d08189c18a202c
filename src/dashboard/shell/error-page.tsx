import { type AppContext, AppError, takeError } from '#http';
import { personOf } from '#members';
import { renderPage, renderPlainPage } from './page.tsx';
import type { DashboardContext } from './page-record.ts';

type Text = { title: string; advice?: string };

const OTHER: Text = { title: 'Request failed', advice: 'Go back and try again.' };
const FAILED: Text = {
  title: 'Something went wrong',
  advice:
    'Reload the page to try again. If it keeps failing, send the request id to whoever runs this service: the log has the error.',
};
const TEXTS: Record<number, Text> = {
  401: { title: 'Signed out', advice: 'What you typed is filled in again once you have signed in.' },
  403: { title: 'Not allowed' },
  404: {
    title: 'Not found',
    advice: 'It may have been removed, or the address may be mistyped.',
  },
  405: { title: 'Not found' },
  409: { title: 'Not possible' },
  413: { title: 'Too large' },
  429: { title: 'Too many attempts' },
  500: FAILED,
};

const asSentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The sign-in, which returns to the page that a form was sent from. */
function signInAddress(c: DashboardContext, status: number): string {
  const from = c.req.header('Referer');
  const url = status === 401 && from && URL.canParse(from) ? new URL(from) : null;
  if (url?.origin !== new URL(c.req.url).origin) return '/';
  return `/login?next=${encodeURIComponent(url.pathname + url.search)}`;
}

/** A page that explains an error and where to go next: in the dashboard's frame if the request's person is known. */
export function answerErrorPage(c: DashboardContext, thrown: unknown): Response | Promise<Response> {
  const { error, status } = takeError(c as unknown as AppContext, thrown);
  const { title, advice } = TEXTS[status] ?? OTHER;
  // Not set if nobody is signed in, or if the error was thrown before that was checked.
  const person: unknown = c.get('person');
  const content = (
    <>
      <p class="reason">{status === 500 ? 'This page could not be shown.' : asSentence(error.message)}</p>
      {advice && <p>{advice}</p>}
      <p>
        <a href={person ? '/' : signInAddress(c, status)}>
          {person ? 'Go to the overview' : 'Go to the sign-in'}
        </a>
      </p>
      <p class="muted">Request id: {c.get('requestId')}</p>
    </>
  );
  return person
    ? renderPage(c, { title, current: '', status }, content)
    : renderPlainPage(c, { title, status }, content);
}

/** The page for an address that does not exist. */
export async function answerUnknownPage(c: DashboardContext): Promise<Response> {
  const signedIn = await personOf(c.env, c.req.raw);
  if (signedIn) c.set('person', signedIn.person);
  return answerErrorPage(c, new AppError('not_found', 'Page not found'));
}
