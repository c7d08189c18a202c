import { kindOf as connectorKind } from '#connectors';
import { kindOf as destinationKind } from '#destinations';
import { AppError } from '#http';
import { linkFor, NETWORKS, type Network, SKADNETWORK_SOURCE } from '#networks';
import { trackingLink } from '#tracking';
import { Copyable } from '../../shell/copyable.tsx';
import { isoTimeText } from '../../shell/dates.ts';
import { isAdmin } from '../../shell/guard.ts';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Card, Facts, Figure } from '../../shell/parts.tsx';
import { renderReport, Zone } from '../../shell/report.tsx';
import { type View, viewQuery } from '../../shell/view.ts';
import { LeftOut } from '../../tables/left-out.tsx';
import { METRIC_DEFINITIONS, nothingOf, showMetric } from '../../tables/metrics.ts';
import { NetworkNotes } from '../creatives/network-links.tsx';
import { ConnectorState } from './connector-page.tsx';
import { CreativeLinks, type OwnCreatives, readCreativeLinks } from './creative-links.tsx';
import { FIGURES, hasConversionsApi, hasCosts, type NetworkState, PATH, readStates } from './state.ts';

/** What is known of the network, from its own file, and what the application has of it. */
type NetworkPageProps = NetworkState & { view: View; mayChange: boolean; creatives: OwnCreatives };

/** Notes with their sources. */
const Sourced = ({
  notes = [],
  unverified,
  sources,
}: {
  notes?: readonly string[];
  unverified: readonly string[];
  sources: readonly string[];
}) => (
  <>
    <NetworkNotes notes={notes} unverified={unverified} />
    <p class="hint">
      {sources.map((source, at) => (
        <>
          {at > 0 && ', '}
          <a href={source}>{`Source ${at + 1}`}</a>
        </>
      ))}
    </p>
  </>
);

const Figures = ({ network, figures, view }: NetworkPageProps) => (
  <Card
    title="In this period"
    aside={
      <>
        <a href={`/breakdown${viewQuery(view, { by: 'country', network: network.id })}`}>By country</a>
        <a href={`/breakdown${viewQuery(view, { by: 'network' })}`}>Compare networks</a>
      </>
    }
  >
    <dl class="figures">
      {FIGURES.map((name) => (
        <Figure
          label={METRIC_DEFINITIONS[name].label}
          hint={METRIC_DEFINITIONS[name].hint}
          metric={name}
          value={showMetric(
            name,
            figures ? (figures[name] as number | null) : nothingOf(name),
            view.currency,
          )}
        />
      ))}
    </dl>
    <Zone view={view} />
  </Card>
);

const Link = ({ pattern, ...shown }: NetworkPageProps & { pattern: string }) => {
  const { network, view, creatives } = shown;
  const link = linkFor(network, pattern);
  const hasCreatives = creatives.listed.length > 0 || creatives.q !== '';
  return (
    <Card title="Link">
      {link === null ? (
        <p>{`Ads of ${network.name} take no tracking link.`}</p>
      ) : hasCreatives ? (
        <>
          <p>{`The destination of your ads at ${network.name}, which replaces the macros. Choose a creative:`}</p>
          <CreativeLinks {...shown} path={`${PATH}/${network.id}`} />
        </>
      ) : (
        <>
          <p>
            {`The destination of your ads at ${network.name}. The dots stand for a creative, of which there is none yet: `}
            <a href={`/creatives${viewQuery(view)}`}>Creatives</a>
          </p>
          <Copyable text={link} label={`the pattern of links for ${network.name}`} />
        </>
      )}
      <Facts
        facts={[
          ['Click ids kept', network.clickIds.join(', ') || 'None'],
          ['In media_source', [network.id, ...Object.keys(network.aliases)].join(', ')],
        ]}
      />
      <Sourced {...network} />
    </Card>
  );
};

/** How the network is told of conversions; null for one that has no way. */
function conversionsOf(network: Network) {
  if (hasConversionsApi(network)) {
    const { label, unverified, source } = destinationKind(network.id);
    return { label, query: `kind=${network.id}`, notes: [], unverified: unverified ?? '', source };
  }
  if (!network.postback) return null;
  const { notes, unverified, source } = network.postback;
  return { label: 'Postback', query: `kind=postback&preset=${network.id}`, notes, unverified, source };
}

const Conversions = ({ network, destinations, view, mayChange }: NetworkPageProps) => {
  const way = conversionsOf(network);
  const given = network.clickIds.map((name) => `{click.${name}}`).join(', ');
  return (
    <Card
      title="Conversions"
      aside={
        mayChange && (
          <a href={`/settings/destinations/new?app=${view.application.id}&${way?.query ?? 'kind=postback'}`}>
            New destination
          </a>
        )
      }
    >
      {destinations.map(({ id, offSince }) => (
        <p>
          <a href={`/settings/destinations/${id}`}>{way?.label}</a>{' '}
          {offSince === null ? <span class="badge good">On</span> : <span class="badge">Off</span>}
        </p>
      ))}
      {way ? (
        <>
          {destinations.length === 0 && <p>{`${way.label}: nothing is sent to ${network.name} yet.`}</p>}
          {network.postback && <Copyable text={network.postback.url} label="the address of the postback" />}
          <Sourced notes={way.notes} unverified={[way.unverified]} sources={[way.source]} />
        </>
      ) : (
        <p>
          {`No public documentation of a postback was found. If ${network.name} gives you an address, add it as a destination of the kind postback${given === '' ? '' : `, with ${given} where it takes the click id`}.`}
        </p>
      )}
    </Card>
  );
};

const Costs = ({ network, connectors, view, mayChange }: NetworkPageProps) => {
  const kind = hasCosts(network) ? connectorKind(network.id) : undefined;
  const { timezone } = view.application;
  return (
    <Card
      title="Costs"
      aside={
        kind && mayChange && <a href={`/connectors${viewQuery(view)}#add-${network.id}`}>Add a connector</a>
      }
    >
      {connectors.map((row) => (
        <p>
          <a href={`/connectors/${row.id}${viewQuery(view)}`}>{kind?.label}</a> <ConnectorState row={row} />{' '}
          {`Last run: ${isoTimeText(row.last_run_at, timezone)}`}
          {row.last_error === null ? '' : `; ${row.last_error}`}
        </p>
      ))}
      {kind ? (
        <>
          {connectors.length === 0 && <p>No connector fetches its costs yet.</p>}
          <Sourced {...kind} />
        </>
      ) : (
        <p>
          {'No connector knows this network. '}
          <a href={`/costs${viewQuery(view)}`}>Upload its costs</a>
          {', or let a connector read them from an address of your own.'}
        </p>
      )}
    </Card>
  );
};

const Skadnetwork = ({ network: { name, skadnetworkIds }, view }: NetworkPageProps) => (
  <Card
    title="SKAdNetwork"
    aside={<a href={`/skan${viewQuery(view, { by: 'network' })}`}>Postbacks by network</a>}
  >
    {skadnetworkIds.length === 0 ? (
      <p>{`The id of ${name} is not known here.`}</p>
    ) : (
      <>
        <p>
          {`Postbacks of ${name} have this id. An app that shows its ads lists it under SKAdNetworkItems of its Info.plist.`}
        </p>
        {skadnetworkIds.map((id) => (
          <Copyable text={`${id}.skadnetwork`} label="the SKAdNetwork id" />
        ))}
        <Sourced unverified={[]} sources={[SKADNETWORK_SOURCE]} />
      </>
    )}
  </Card>
);

export function networkPage(c: DashboardContext) {
  const network = NETWORKS.find(({ id }) => id === c.req.param('id'));
  if (!network) throw new AppError('not_found', 'Network not found');
  const page = {
    title: network.name,
    within: (view: View) => <a href={`${PATH}${viewQuery(view)}`}>Network set-up</a>,
    bar: ['period', 'currency'],
    inner: `${PATH}/${network.id}`,
  } as const;
  return renderReport(c, page, async (view) => {
    const { report, states } = await readStates(c, view);
    const state = states.find((one) => one.network === network);
    if (!state) throw new Error(`No state of ${network.id}`);
    const mayChange = isAdmin(c);
    const creatives = await readCreativeLinks(c, network, view, mayChange);
    const shown = { ...state, view, mayChange, creatives };
    return (
      <>
        <LeftOut report={report} />
        <Figures {...shown} />
        <Link {...shown} pattern={trackingLink(c.env, c.req.url, '…')} />
        <Conversions {...shown} />
        <Costs {...shown} />
        <Skadnetwork {...shown} />
      </>
    );
  });
}
