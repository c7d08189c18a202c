import { NOTHING } from '#lib/format';
import { type DashboardContext, type PageRecord, pageRoutes } from '../../shell/page-record.ts';
import { Card } from '../../shell/parts.tsx';
import { renderReport, Zone } from '../../shell/report.tsx';
import { viewQuery } from '../../shell/view.ts';
import { figureColumn } from '../../tables/figure-column.tsx';
import { LeftOut } from '../../tables/left-out.tsx';
import { Table } from '../../tables/table.tsx';
import { ConnectorState } from './connector-page.tsx';
import { networkPage } from './network-page.tsx';
import { FIGURES, hasConversionsApi, hasCosts, type NetworkState, PATH, readStates } from './state.ts';

const TITLE = 'Network set-up';

function conversionsText({ network, destinations }: NetworkState): string {
  if (destinations.some(({ offSince }) => offSince === null)) return 'Sent';
  if (destinations.length > 0) return 'Off';
  if (hasConversionsApi(network)) return 'Conversions API';
  return network.postback ? 'Postback' : NOTHING;
}

const Costs = ({ state: { network, connectors } }: { state: NetworkState }) => {
  const [first] = connectors;
  if (first) return <ConnectorState row={first} />;
  return <>{hasCosts(network) ? 'Connector' : NOTHING}</>;
};

const listPage = (c: DashboardContext) =>
  renderReport(c, { bar: ['period', 'currency'] }, async (view) => {
    const { report, states } = await readStates(c, view);
    return (
      <>
        <LeftOut report={report} />
        <Card
          title="Known networks"
          aside={<a href={`/breakdown${viewQuery(view, { by: 'network' })}`}>All networks with figures</a>}
        >
          <p class="muted">
            Open a network for the link for its ads, how it is told of conversions, what fetches its costs,
            and what is not verified.
          </p>
          <Table
            caption="What is set up for each network"
            rows={states}
            columns={[
              {
                label: 'Network',
                cell: ({ network }) => <a href={`${PATH}/${network.id}${viewQuery(view)}`}>{network.name}</a>,
              },
              { label: 'Link', cell: ({ network }) => (network.macros === null ? NOTHING : 'With macros') },
              { label: 'Conversions', cell: conversionsText },
              { label: 'Costs', cell: (state) => <Costs state={state} /> },
              ...FIGURES.map((name) =>
                figureColumn(name, states, view, (state: NetworkState) => state.figures),
              ),
            ]}
          />
          <Zone view={view} />
        </Card>
      </>
    );
  });

export const networks: PageRecord = {
  path: PATH,
  title: TITLE,
  links: [
    {
      group: 'Operate',
      icon: 'M6.5 9.5l3-3M7 4.5l1-1A3 3 0 0112.5 8l-1 1M9 11.5l-1 1A3 3 0 013.5 8l1-1',
    },
  ],
  routes: pageRoutes().get('/', listPage).get('/:id', networkPage),
};
