import { linkFor, NETWORKS, type Network } from '#networks';

const ROLES: Record<Network['roles'][number], string> = {
  advertising: 'shows your ads',
  monetization: 'shows ads in your app',
  mediation: 'mediates between networks',
};

const code = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ');
const and = new Intl.ListFormat('en');
const list = (texts: readonly string[]) => texts.map((text) => `- ${text}\n`).join('');

function section(network: Network): string {
  const { id, name, aliases, roles, clickIds, notes, unverified, sources } = network;
  const link = linkFor(network, 'https://example.com/t/…');
  const facts = [
    `${name} ${and.format(roles.map((role) => ROLES[role]))}.`,
    `In \`media_source\`: ${code([id, ...Object.keys(aliases)])}.`,
    ...(clickIds.length > 0 ? [`Click ids: ${code(clickIds)}.`] : []),
    ...(link === null ? ['Its ads take no tracking link.'] : []),
  ];
  return [
    `## ${name}\n\n${facts.join(' ')}\n`,
    ...(link === null ? [] : [`\n\`\`\`\n${link}\n\`\`\`\n`]),
    ...(notes.length > 0 ? [`\n${list(notes)}`] : []),
    ...(unverified.length > 0 ? [`\nNot verified:\n\n${list(unverified)}`] : []),
    `\nSources: ${sources.map((source) => `<${source}>`).join(', ')}\n`,
  ].join('');
}

/** The text of docs/networks.md. */
export const networksPage =
  (): string => `<!-- Written by \`npm run docs:networks\` from src/networks. Do not edit. -->

# Networks

What is known of each advertising network, and the tracking link for its ads. \`GET /v1/creatives/{id}/links\` returns these links for a creative. The
network replaces the macros in its link; campaign, ad set, ad and click id are then stored with each click. Macros of device ids are left out.

None of the links was tried in a live campaign. What is not confirmed by the network's own documentation stands under *Not verified*.

${NETWORKS.map(section).join('\n')}`;
