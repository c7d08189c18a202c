import { listNewestFor } from '#creatives';
import { database } from '#db';
import { linkFor, type Network } from '#networks';
import { serverLinks } from '#tracking';
import type { DashboardContext } from '../../shell/page-record.ts';
import { Name, NamePath } from '../../shell/parts.tsx';
import { searchOf, TableSearch } from '../../shell/report.tsx';
import { type Here, type View, viewQuery } from '../../shell/view.ts';
import { linkTo } from '../creatives/creative-page.tsx';
import { OwnLinks } from '../creatives/network-links.tsx';

/** Further creatives are found by name. */
const LISTED = 8;

/** The newest creatives with the searched name, each with its links for the network; those for its servers only if `mayChange`. */
export async function readCreativeLinks(
  c: DashboardContext,
  network: Network,
  view: View,
  mayChange: boolean,
) {
  const q = searchOf(c);
  const wanted = { applicationId: view.application.id, network: network.id, q, limit: LISTED + 1 };
  const found = await listNewestFor(database(c.env.DB), wanted, linkTo(c));
  const listed = await Promise.all(
    found.slice(0, LISTED).map(async (creative) => ({
      creative,
      link: linkFor(network, creative.tracking_link) ?? '',
      servers: mayChange ? await serverLinks(c.env, creative.id, creative.tracking_link) : null,
    })),
  );
  return { q, listed, hasMore: found.length > LISTED };
}
export type OwnCreatives = Awaited<ReturnType<typeof readCreativeLinks>>;

/** The links of the application's creatives for the network, the newest one open. */
export const CreativeLinks = ({
  network,
  view,
  path,
  creatives: { q, listed, hasMore },
  mayChange,
}: Here & { network: Network; creatives: OwnCreatives; mayChange: boolean }) => (
  <div class="creative-links">
    {(q !== '' || listed.length > 1) && <TableSearch view={view} path={path} q={q} />}
    {listed.length === 0 && <p class="empty">{`No creative for ${network.name} contains “${q}”.`}</p>}
    {listed.map(({ creative, link, servers }, at) => (
      <details class="fold" open={at === 0}>
        <summary>
          <Name name={creative.name} />
          <span class="muted">
            {' · '}
            <NamePath names={[creative.campaign, creative.adset]} />
          </span>
        </summary>
        <OwnLinks network={network} link={link} servers={servers} name={creative.name} />
        <p>
          <a href={`/creatives/${creative.id}${viewQuery(view)}`}>Open the creative</a>
          {mayChange && !network.serverMacros && (
            <>
              {' · '}
              <a href={`/creatives/${creative.id}${viewQuery(view)}#server-links`}>
                Links for a network’s servers
              </a>
            </>
          )}
        </p>
      </details>
    ))}
    {hasMore && <p class="hint">{`The newest ${LISTED}. Search for others by name, campaign or ad set.`}</p>}
  </div>
);
