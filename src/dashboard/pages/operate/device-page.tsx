import { explainDevice, isImpressionId } from '#attribution';
import type { StoredDevice } from '#counting';
import { findDeviceById } from '#devices';
import { EventsQuery, listEventsWithStatus } from '#events';
import { AppError, readAs } from '#http';
import { countDays } from '#lib/collections/day-set';
import { amountsIn, count, percent } from '#lib/format';
import { readDeviceRevenue } from '#reports';
import { exactTimeText } from '../../shell/dates.ts';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Card, Figure } from '../../shell/parts.tsx';
import { requireView, type View, viewQuery } from '../../shell/view.ts';
import { amountsText, Mark } from '../../tables/lacking.tsx';
import { NextPart } from '../../tables/table.tsx';
import { ExplanationCard } from './event-page.tsx';
import { InDebugger, StatusBadge, summary, TimelineEntry, text, typeLabel } from './event-parts.tsx';
import { fillPage } from './fill-page.ts';

const SHOWN = 100;
/** Beyond as many reads, the rest of the timeline is behind a link. */
const MAX_READS = 10;

/** Whether an event tells of money, which the timeline stresses. */
const isMoney = ({ type, status_of_event: status }: Record<string, unknown>) =>
  status === 'counted' && (type === 'custom.ad' || type === 'custom.purchase' || type === 'store');

/** What the device brought since its acquisition, net of refunds and the store's fee, and on how many days it was active. */
async function SoFar({ env, view, device }: { env: Env; view: View; device: StoredDevice }) {
  const { application, currency, today } = view;
  const revenue = await readDeviceRevenue(env.DB, application, device.revenue, { currency, day: today });
  const amounts = amountsIn(currency);
  const figures = [
    ['Ad revenue', revenue.ads],
    ['Purchases', revenue.purchases],
    ['Refunds', revenue.refunds],
    ['Net revenue', revenue.net],
  ] as const;
  const fee = percent(application.storeFeeBasisPoints / 10_000);
  return (
    <Card
      title="So far"
      info={
        <>
          <p>
            {`Everything counted since the device was acquired, payments that only a store told included, in ${currency.toUpperCase()} at the latest rates.`}
          </p>
          <p>{`Net revenue is ads, and purchases less refunds and the store’s fee of ${fee}.`}</p>
        </>
      }
    >
      <dl class="figures">
        {figures.map(([label, value]) => (
          <Figure label={label} value={amounts.text(value)} mark={<Mark amounts={revenue.unconverted} />} />
        ))}
        <Figure label="Days active" value={count(countDays(device.activeDays))} />
      </dl>
      {revenue.unconverted.length > 0 && (
        <p class="hint">
          {`Not included, because there is no exchange rate: ${amountsText(revenue.unconverted)}.`}
        </p>
      )}
    </Card>
  );
}

/** One device: its attribution, then its events, newest first. */
export async function devicePage(c: DashboardContext) {
  const view = await requireView(c);
  const id = c.req.query('device_id') ?? '';
  const isPossible = id !== '' && EventsQuery.shape.device_id.safeParse(id).success;
  if (!isPossible) throw new AppError('not_found', 'Device not found');
  const { application } = view;
  const query = readAs(EventsQuery, {
    application_id: application.id,
    device_id: id,
    limit: SHOWN,
    cursor: c.req.query('cursor') ?? '',
  });
  const [device, page] = await Promise.all([
    findDeviceById(c.env, application.id, id),
    // A page of a busy application may have few events of one device, or none.
    fillPage((cursor, limit) => listEventsWithStatus(c.env, application, { ...query, cursor, limit }), {
      cursor: query.cursor,
      size: SHOWN,
      maxReads: MAX_READS,
    }),
  ]);
  if (!device && page.data.length === 0) throw new AppError('not_found', 'Device not found');
  const explanation = device && (await explainDevice(c.env.DB, application.id, device));
  const isQueued = page.data.some(({ status_of_event }) => status_of_event === 'queued');
  const at = (time: number) => exactTimeText(time, application.timezone);
  return renderPage(
    c,
    { title: id, within: <InDebugger view={view} what="Device" />, view },
    <>
      <div id="live" {...(isQueued ? { 'data-live': '' } : {})}>
        {device && <SoFar env={c.env} view={view} device={device} />}
        {explanation && <ExplanationCard explanation={explanation} zone={application.timezone} />}
        <Card title="Timeline" aside={<span class="muted">Times in {application.timezone}</span>}>
          <ol class="timeline">
            {page.data.map((event: Record<string, unknown>) => (
              <TimelineEntry
                kind={isMoney(event) ? 'money' : ''}
                at={text(event.created_at)}
                shown={at(Date.parse(text(event.created_at)))}
                aside={<StatusBadge status={event.status_of_event} />}
              >
                <a href={`/debugger/event${viewQuery(view, { id: text(event.event_id) })}`}>
                  {typeLabel(event)}
                </a>{' '}
                {summary(event)}
              </TimelineEntry>
            ))}
            {page.next_cursor === null && explanation && (
              <>
                <TimelineEntry
                  kind="start"
                  at={new Date(explanation.acquiredAt).toISOString()}
                  shown={at(explanation.acquiredAt)}
                >
                  Acquired, by{' '}
                  {explanation.attribution.creative_id
                    ? (explanation.creatives[explanation.attribution.creative_id] ?? 'a creative')
                    : 'no ad (organic)'}
                </TimelineEntry>
                {explanation.click && (
                  <TimelineEntry
                    kind="start"
                    at={new Date(explanation.click.clickedAt).toISOString()}
                    shown={at(explanation.click.clickedAt)}
                  >
                    {isImpressionId(explanation.attribution.click_id ?? '') ? 'Saw the ad' : 'Clicked the ad'}
                  </TimelineEntry>
                )}
              </>
            )}
          </ol>
          <NextPart
            cursor={page.next_cursor}
            to={(cursor) => `/debugger/device${viewQuery(view, { device_id: id, cursor })}`}
          />
        </Card>
      </div>
      <p>
        <a href={`/debugger${viewQuery(view, { device_id: id })}`}>These events in the debugger</a>
      </p>
    </>,
  );
}
