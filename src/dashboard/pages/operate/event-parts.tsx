import type { Child, PropsWithChildren } from 'hono/jsx';
import { METHODS } from '#attribution';
import { eventLabel, type ShownEvent, summarise, valueName } from '#catalogue';
import type { ShownStatus } from '#events';
import { count, money } from '#lib/format';
import { type View, viewQuery } from '../../shell/view.ts';

/** A field of an event as text; empty if it is missing or of another type. */
export const text = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** What people call the event: `Ad impression` for `custom.ad`. */
export const typeLabel = (event: ShownEvent): string => eventLabel(text(event.type));

/** A summary of an event in one line. */
export const summary = (event: ShownEvent): string =>
  summarise(
    {
      ...event,
      type: text(event.type),
      ...(typeof event.attribution_method === 'string'
        ? { attribution_method: METHODS[event.attribution_method]?.label ?? event.attribution_method }
        : {}),
      ...(event.source ? { source: valueName('source', text(event.source)) } : {}),
      ...(event.media_source ? { media_source: valueName('media_source', text(event.media_source)) } : {}),
    },
    typeof event.value === 'number' ? money(event.value, text(event.currency) || 'usd') : '',
  );

/** An event as JSON, folded behind one line: what happened, if the page does not say it, and the number of fields. */
export const EventJson = ({ event, what = '' }: { event: ShownEvent; what?: string }) => {
  const { status_of_event: _, counted_amount: _counted, ...sent } = event;
  const fields = Object.keys(sent).length;
  return (
    <details class="fold">
      <summary>{`${what === '' ? '' : `${what} · `}${count(fields)} ${fields === 1 ? 'field' : 'fields'}`}</summary>
      <pre class="event">{JSON.stringify(sent, null, 2)}</pre>
    </details>
  );
};

/** How each status of an event is shown. */
export const STATUSES: Record<ShownStatus, { label: string; kind: string; hint: string }> = {
  queued: { label: 'Queued', kind: 'waiting', hint: 'Stored and waiting to be counted' },
  counted: { label: 'Counted', kind: 'good', hint: 'Included in reports' },
  duplicate: { label: 'Duplicate', kind: '', hint: 'Repeats an event that was already counted' },
  ignored: { label: 'Not counted', kind: '', hint: 'Not counted in reports; open it for the reason' },
  parked: { label: 'Parked', kind: 'bad', hint: 'Could not be counted; see Health' },
};

/** The status of an event. */
export const StatusBadge = ({ status }: { status: unknown }) => {
  const known = typeof status === 'string' && Object.hasOwn(STATUSES, status);
  const { label, kind, hint } = STATUSES[known ? (status as ShownStatus) : 'queued'];
  return (
    <span class={`status ${kind}`} title={hint}>
      {label}
    </span>
  );
};

/** One moment of a device's timeline: its time as `shown`, what happened, and what is known of it at the end of the line. */
export const TimelineEntry = ({
  kind = '',
  at,
  shown,
  aside,
  children,
}: PropsWithChildren<{ kind?: '' | 'money' | 'start'; at: string; shown: string; aside?: Child }>) => (
  <li class={kind}>
    <time datetime={at}>{shown}</time>
    <span>{children}</span>
    {aside}
  </li>
);

/** What stands above the title of a device's or an event's page. */
export const InDebugger = ({ view, what }: { view: View | null; what: string }) => (
  <>
    <a href={`/debugger${viewQuery(view)}`}>Debugger</a>
    {` › ${what}`}
  </>
);
