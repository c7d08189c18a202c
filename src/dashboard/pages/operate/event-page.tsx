import { type Explanation, isImpressionId, METHODS } from '#attribution';
import { DOUBT_RULES, valueName } from '#catalogue';
import { explainDeviceById } from '#devices';
import { type EventStatus, eventStatus } from '#events';
import { count, percent, span } from '#lib/format';
import { exactTimeText } from '../../shell/dates.ts';
import { renderPage } from '../../shell/page.tsx';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Card, Notice } from '../../shell/parts.tsx';
import { readView, viewQuery } from '../../shell/view.ts';
import { Table } from '../../tables/table.tsx';
import { AppleAnswer } from './apple-answer.tsx';
import { EventJson, InDebugger, STATUSES, summary, typeLabel } from './event-parts.tsx';
import { Reason } from './event-reasons.tsx';
import { ReferrerAnswer } from './referrer-answer.tsx';

const MEANING: Record<EventStatus['status'], string> = {
  queued: 'Stored and waiting to be counted. This page updates automatically.',
  counted: 'It is included in reports.',
  duplicate: 'It repeats an event that was already counted, so it is not counted again.',
  ignored: 'It was stored, but is not counted in reports.',
  parked: 'It could not be counted. The Health page has it, with the reason.',
};

/** An event in a raw event file has no log time, only the time of counting. */
function logged({ logged_at, settled_by }: EventStatus, zone: string): string {
  if (logged_at) return `Logged ${exactTimeText(Date.parse(logged_at), zone)}`;
  return settled_by ? 'Logged' : 'Not logged yet';
}

const StatusCard = ({ status, zone }: { status: EventStatus; zone: string }) => (
  <Card title={`This event is ${status.status}`} aside={<span class="muted">Times in {zone}</span>}>
    <p>{MEANING[status.status]}</p>
    {status.reason && (
      <Notice kind="bad">
        <Reason reason={status.reason} />
      </Notice>
    )}
    {status.waits_for_purchase && (
      <Notice kind="bad">
        No purchase with this <code>tr_id</code> is known yet, so nothing is taken back. Once the purchase
        arrives, it is. Refunds have to be sent with the token of the device that purchased.
      </Notice>
    )}
    {status.implausible_amount && (
      <Notice kind="bad">
        Its amount looks like micros: it is more than 100 times what others are, or more than $5 for one
        impression. It is counted as it was sent.
      </Notice>
    )}
    <ol class="steps">
      <li>
        <span class="light on" aria-hidden="true" />
        Received {exactTimeText(Date.parse(status.received_at), zone)}
      </li>
      <li>
        <span class={`light ${status.logged_at || status.settled_by ? 'on' : ''}`} aria-hidden="true" />
        {logged(status, zone)}
      </li>
      <li>
        <span class={`light ${status.settled_by ? 'on' : ''}`} aria-hidden="true" />
        {status.settled_by
          ? `${STATUSES[status.status].label} by ${exactTimeText(Date.parse(status.settled_by), zone)}`
          : 'Not counted yet'}
      </li>
    </ol>
    {status.duplicate_of && (
      <p>
        First: <code>{status.duplicate_of}</code>
      </p>
    )}
    {status.event && <EventJson event={status.event} what={summary(status.event)} />}
  </Card>
);

/** What a click and a device have in common, or not. */
const FACTS: Record<string, string> = {
  ip: 'IP address',
  timezone: 'Time zone',
  os_version: 'OS version',
  model: 'Model',
  screen: 'Screen size',
  density: 'Pixel density',
};

const CreditedClick = ({
  click,
  verb,
  zone,
}: {
  click: NonNullable<Explanation['click']>;
  verb: 'Clicked' | 'Shown';
  zone: string;
}) => (
  <>
    <p>
      {verb} {exactTimeText(click.clickedAt, zone)}
      {click.country ? ` in ${valueName('country', click.country)}` : ''}
    </p>
    {Object.keys(click.params).length > 0 && (
      <Table
        caption="Link parameters stored with the click"
        rows={Object.entries(click.params)}
        empty=""
        columns={[
          { label: 'Parameter', cell: ([name]) => name },
          { label: 'Value', cell: ([, value]) => value },
        ]}
      />
    )}
  </>
);

const COUNTRY_SOURCES = {
  data: 'sent by the backend',
  click: 'from the credited click',
  timezone: 'from its time zone',
};

const CountedIn = ({ place: { country, countrySource } }: { place: Explanation['place'] }) => (
  <p>
    Country: {country ? valueName('country', country) : 'unknown'}
    {countrySource ? `, ${COUNTRY_SOURCES[countrySource]}` : ''}
  </p>
);

/** The clicks that could have led to the device, and why they were not counted. */
const RefusedClicks = ({
  explanation: { attribution, creatives, acquiredAt },
}: {
  explanation: Explanation;
}) => (
  <>
    {(attribution.refused_clicks ?? []).map(({ click_id, creative_id, clicked_at, reason }) => (
      <p>
        {isImpressionId(click_id) ? 'An impression' : 'A click'} of creative{' '}
        <strong>{creatives[creative_id] ?? creative_id}</strong> {span(Math.abs(acquiredAt - clicked_at))}{' '}
        {clicked_at > acquiredAt ? 'after' : 'before'} the install was not counted because {reason}.
      </p>
    ))}
  </>
);

const ruleLabels = new Map(DOUBT_RULES.map(({ id, label }) => [id, label]));

/** The rules that doubted the install, and those that could not be checked. */
const Doubts = ({
  attribution: { doubts = [], doubts_not_checked: unknown = [], excluded },
  creativeName,
}: {
  attribution: Explanation['attribution'];
  creativeName: string;
}) => (
  <>
    {doubts.map(({ reason }) => (
      <Notice kind="bad">Doubtful install: {reason}.</Notice>
    ))}
    {excluded && (
      <p>
        It counts as organic because the application excludes such installs. Otherwise it would be of creative{' '}
        <strong>{creativeName}</strong>.
      </p>
    )}
    {unknown.length > 0 && (
      <p class="muted">
        Not checked, because too little is known: {unknown.map((id) => ruleLabels.get(id) ?? id).join('; ')}.
      </p>
    )}
  </>
);

/** Why a device is attributed as it is, with times in `zone`. */
const Warnings = ({ warnings }: Pick<Explanation, 'warnings'>) =>
  warnings.length === 0 ? null : (
    <>
      <p>Dropped or replaced when the device was created:</p>
      <ul>
        {warnings.map(({ path, message }) => (
          <li>
            <code>{path}</code> {message}
          </li>
        ))}
      </ul>
    </>
  );

export const ExplanationCard = ({ explanation, zone }: { explanation: Explanation; zone: string }) => {
  const { attribution, creatives, click } = explanation;
  const nameOf = (id: string | null | undefined) => (id ? (creatives[id] ?? id) : 'none');
  const candidates = attribution.candidates ?? [];
  const method = attribution.method ? METHODS[attribution.method] : undefined;
  return (
    <Card title="Attribution">
      {attribution.method ? (
        <p>
          <strong>{method?.label ?? attribution.method}</strong>
          {attribution.creative_id && (
            <>
              {', creative '}
              <strong>{nameOf(attribution.creative_id)}</strong>
            </>
          )}
          {`, confidence ${percent(attribution.confidence)}. ${method?.reason ?? ''}`}
          {attribution.ambiguous ? ' Another click matches equally well.' : ''}
        </p>
      ) : (
        <p>This device was acquired before attributions were recorded.</p>
      )}
      <Doubts attribution={attribution} creativeName={nameOf(attribution.excluded?.creative_id)} />
      <AppleAnswer attribution={attribution} nameOf={nameOf} />
      <ReferrerAnswer attribution={attribution} zone={zone} />
      <CountedIn place={explanation.place} />
      {click && (
        <CreditedClick
          click={click}
          verb={isImpressionId(attribution.click_id ?? '') ? 'Shown' : 'Clicked'}
          zone={zone}
        />
      )}
      <RefusedClicks explanation={explanation} />
      {candidates.length > 0 && (
        <details class="fold">
          <summary>Evidence</summary>
          <Table
            caption="Candidate clicks"
            rows={candidates}
            columns={[
              { label: 'Clicked or shown', cell: (candidate) => exactTimeText(candidate.clicked_at, zone) },
              {
                label: 'Creative',
                cell: ({ click_id, creative_id }) =>
                  `${nameOf(creative_id)}${isImpressionId(click_id) ? ' (shown, not clicked)' : ''}`,
              },
              { label: 'Score, bits', numeric: true, cell: (candidate) => count(candidate.score) },
              { label: 'Likelihood', numeric: true, cell: (candidate) => percent(candidate.probability) },
              {
                label: 'Evidence, bits',
                cell: (candidate) =>
                  Object.entries(candidate.facts)
                    .map(([fact, bits]) => `${FACTS[fact] ?? fact} ${bits > 0 ? '+' : ''}${bits}`)
                    .join(', ') || 'Named',
              },
            ]}
          />
        </details>
      )}
      <Warnings warnings={explanation.warnings} />
      {candidates.length === 0 && !click && <p class="empty">There were no candidate clicks.</p>}
    </Card>
  );
};

/** The status of one event, and why its device is attributed as it is. */
export async function eventPage(c: DashboardContext) {
  const view = await readView(c);
  const id = c.req.query('id') ?? '';
  const status = await eventStatus(c.env, c.get('person').team.id, id, Date.now(), view?.application.id);
  const { device_id } = status.event ?? {};
  const type = status.event ? typeLabel(status.event) : '';
  const zone = view?.application.timezone ?? 'UTC';
  const explanation =
    status.application_id && typeof device_id === 'string'
      ? await explainDeviceById(c.env, status.application_id, device_id)
      : null;
  return renderPage(
    c,
    {
      title: type || status.event_id,
      within: <InDebugger view={view} what="Event" />,
      view,
    },
    <div id="event">
      {type !== '' && (
        <p>
          <code>{status.event_id}</code>
        </p>
      )}
      <div id="live" {...(status.settled_by ? {} : { 'data-live': '' })}>
        <StatusCard status={status} zone={zone} />
      </div>
      {typeof device_id === 'string' && (
        <p>
          <a href={`/debugger/device${viewQuery(view, { device_id })}`}>All events of this device</a>
        </p>
      )}
      {explanation && <ExplanationCard explanation={explanation} zone={zone} />}
    </div>,
  );
}
