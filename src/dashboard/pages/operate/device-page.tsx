import { isImpressionId } from '#attribution';
import { explainDeviceById } from '#devices';
import { EventsQuery, listEventsWithStatus } from '#events';
import { AppError } from '#http';
import { exactTimeText } from '../../shell/dates.ts';
import { fillPage } from '../../shell/fill-page.ts';
import { count, money, NOTHING } from '../../shell/format.ts';
import type { DashboardContext } from '../../shell/guard.ts';
import { renderPage } from '../../shell/page.tsx';
import { Card, Figure } from '../../shell/parts.tsx';
import { ask } from '../../shell/report.tsx';
import { requireView, viewQuery } from '../../shell/view.ts';
import { ExplanationCard } from './event-page.tsx';
import { InDebugger, StatusBadge, summary, typeLabel } from './event-parts.tsx';

const SHOWN = 100;
/** Beyond as many reads, the rest of the timeline is behind a link. */
const MAX_READS = 10;

const text = (value: unknown) => (typeof value === 'string' ? value : '');

type DeviceEvent = Record<string, unknown>;

const PAID: readonly unknown[] = ['completed', 'success'];

/** What a counted ad or paid purchase brought; null for any other event. */
function amountOf(event: DeviceEvent): { kind: 'ads' | 'purchases'; currency: string; value: number } | null {
  const { type, status, value, currency, status_of_event: counted } = event;
  if (counted !== 'counted' || typeof value !== 'number' || typeof currency !== 'string') return null;
  if (type === 'custom.ad') return { kind: 'ads', currency, value };
  return type === 'custom.purchase' && PAID.includes(status) ? { kind: 'purchases', currency, value } : null;
}

/** The device's revenue, days and events, of the events on this page. */
const SoFar = ({ events, hasOlder }: { events: readonly DeviceEvent[]; hasOlder: boolean }) => {
  const amounts = events.flatMap((event) => amountOf(event) ?? []);
  const sum = (...kinds: ('ads' | 'purchases')[]) => {
    const byCurrency = Map.groupBy(
      amounts.filter(({ kind }) => kinds.includes(kind)),
      ({ currency }) => currency,
    );
    const sums = [...byCurrency].map(([currency, own]) =>
      money(
        own.reduce((total, { value }) => total + value, 0),
        currency,
      ),
    );
    return sums.length === 0 ? NOTHING : sums.join(' + ');
  };
  const days = new Set(events.map((event) => text(event.day)).filter((day) => day !== ''));
  const note = hasOlder ? { note: `of these ${count(events.length)} events` } : {};
  return (
    <Card title="So far">
      <dl class="figures">
        <Figure label="Ad revenue" value={sum('ads')} {...note} />
        <Figure label="Purchases" value={sum('purchases')} {...note} />
        <Figure label="Revenue" value={sum('ads', 'purchases')} {...note} />
        <Figure label="Days active" value={count(days.size)} {...note} />
        <Figure label="Events" value={hasOlder ? `${count(events.length)}+` : count(events.length)} />
      </dl>
    </Card>
  );
};

/** One device: its attribution, then its events, newest first. */
export async function devicePage(c: DashboardContext) {
  const view = await requireView(c);
  const id = c.req.query('device_id') ?? '';
  const isPossible = id !== '' && EventsQuery.shape.device_id.safeParse(id).success;
  if (!isPossible) throw new AppError('not_found', 'Device not found');
  const { application } = view;
  const query = ask(EventsQuery, {
    application_id: application.id,
    device_id: id,
    limit: SHOWN,
    cursor: c.req.query('cursor') ?? '',
  });
  const [explanation, page] = await Promise.all([
    explainDeviceById(c.env, application.id, id),
    // A page of a busy application may have few events of one device, or none.
    fillPage((cursor, limit) => listEventsWithStatus(c.env, application, { ...query, cursor, limit }), {
      cursor: query.cursor,
      size: SHOWN,
      maxReads: MAX_READS,
    }),
  ]);
  if (!explanation && page.data.length === 0) throw new AppError('not_found', 'Device not found');
  const isQueued = page.data.some(({ status_of_event }) => status_of_event === 'queued');
  const at = (time: number) => exactTimeText(time, application.timezone);
  return renderPage(
    c,
    { title: id, within: <InDebugger view={view} what="Device" />, view },
    <>
      <SoFar events={page.data} hasOlder={page.next_cursor !== null || query.cursor !== ''} />
      {explanation && <ExplanationCard explanation={explanation} zone={application.timezone} />}
      <div id="live" {...(isQueued ? { 'data-live': '' } : {})}>
        <Card title="Timeline" aside={<span class="muted">Times in {application.timezone}</span>}>
          <ol class="timeline">
            {page.data.map((event: Record<string, unknown>) => (
              <li class={amountOf(event) === null ? '' : 'money'}>
                <time datetime={text(event.created_at)}>{at(Date.parse(text(event.created_at)))}</time>
                <span>
                  <a href={`/debugger/event${viewQuery(view, { id: text(event.event_id) })}`}>
                    {typeLabel(event)}
                  </a>{' '}
                  {summary(event)}
                </span>
                <StatusBadge status={event.status_of_event} />
              </li>
            ))}
            {page.next_cursor === null && explanation && (
              <>
                <li class="start">
                  <time datetime={new Date(explanation.acquiredAt).toISOString()}>
                    {at(explanation.acquiredAt)}
                  </time>
                  <span>
                    Acquired, by{' '}
                    {explanation.attribution.creative_id
                      ? (explanation.creatives[explanation.attribution.creative_id] ?? 'a creative')
                      : 'no ad (organic)'}
                  </span>
                </li>
                {explanation.click && (
                  <li class="start">
                    <time datetime={new Date(explanation.click.clickedAt).toISOString()}>
                      {at(explanation.click.clickedAt)}
                    </time>
                    <span>
                      {isImpressionId(explanation.attribution.click_id ?? '')
                        ? 'Saw the ad'
                        : 'Clicked the ad'}
                    </span>
                  </li>
                )}
              </>
            )}
          </ol>
          {page.next_cursor && (
            <p class="pages">
              <a href={`/debugger/device${viewQuery(view, { device_id: id, cursor: page.next_cursor })}`}>
                Older
              </a>
            </p>
          )}
        </Card>
      </div>
      <p>
        <a href={`/debugger${viewQuery(view, { device_id: id })}`}>These events in the debugger</a>
      </p>
    </>,
  );
}
