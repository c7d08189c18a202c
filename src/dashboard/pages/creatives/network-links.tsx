import type { Creative } from '#creatives/answers';
import { linkFor, NETWORKS, type Network, serverLinksFor } from '#networks';
import type { serverLinks } from '#tracking';
import { Copyable } from '../../shell/copyable.tsx';
import { FoldedCard } from '../../shell/parts.tsx';
import { plainText } from '../../shell/words.ts';

/** Of who may see them: their secret lets anyone report clicks. */
type Servers = Awaited<ReturnType<typeof serverLinks>> | null;

/** A creative's link for a network, and those for the network's servers. `name`: which of the page's links it is. */
export const OwnLinks = ({
  network,
  link,
  servers,
  name,
}: {
  network: Network;
  link: string;
  servers: Servers;
  name: string;
}) => {
  const reported = servers && serverLinksFor(network, servers);
  return (
    <>
      <Copyable text={link} label={`the link for ${name}`} />
      {reported && (
        <>
          <p>If its servers report clicks, with a secret:</p>
          <Copyable text={reported.click} label={`the link for clicks of ${name}`} />
          <p>If they report impressions:</p>
          <Copyable text={reported.impression} label={`the link for impressions of ${name}`} />
        </>
      )}
    </>
  );
};

/** What is to be known of a network, and what of it nobody has verified. */
export const NetworkNotes = ({
  notes,
  unverified,
}: {
  notes: readonly string[];
  unverified: readonly string[];
}) => (
  <ul class="muted">
    {notes.map((note) => (
      <li>{plainText(note)}</li>
    ))}
    {unverified.map((note) => (
      <li>Not verified: {plainText(note)}</li>
    ))}
  </ul>
);

/** The tracking link for the ads of each network, with its macros; of that network alone if the creative's link is for one. */
export const NetworkLinks = ({ creative, servers }: { creative: Creative; servers: Servers }) => {
  const possible = NETWORKS.filter(({ id }) => creative.network === null || creative.network === id);
  const linked = possible.flatMap((network) => {
    const link = linkFor(network, creative.tracking_link);
    return link === null ? [] : [{ network, link }];
  });
  if (linked.length === 0) return null;
  const without = possible.filter(({ macros, roles }) => macros === null && roles.includes('advertising'));
  return (
    <FoldedCard title="Links for networks" id="network-links">
      <p class="muted">
        Use the link of the network where you buy the ads. The network replaces the macros in it, so that each
        click tells its campaign, ad set and ad.
        {without.map(({ name }) => ` Ads of ${name} take no tracking link.`)}
      </p>
      {linked.map(({ network, link }) => (
        <details class="fold">
          <summary>{network.name}</summary>
          <OwnLinks network={network} link={link} servers={servers} name={network.name} />
          <NetworkNotes {...network} />
        </details>
      ))}
    </FoldedCard>
  );
};
