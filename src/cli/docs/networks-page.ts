import {
  IMPRESSION_PRESETS,
  type ImpressionPreset,
  impressionAddress,
  linkFor,
  NETWORKS,
  type Network,
  serverLinksFor,
} from '#networks';
import { COST_REPORTS, type CostReport } from '#networks/costs';
import { CONVERSIONS } from '#networks/outbound';

const ROLES: Record<Network['roles'][number], string> = {
  advertising: 'shows your ads',
  monetization: 'shows ads in your app',
  mediation: 'mediates between networks',
};

const code = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ');
const and = new Intl.ListFormat('en');
const list = (texts: readonly string[]) => texts.map((text) => `- ${text}\n`).join('');

/** How the network is told of conversions. */
function conversionsOf({ id, name, clickIds, postback, roles }: Network): string {
  const api = Object.hasOwn(CONVERSIONS, id) ? CONVERSIONS[id] : undefined;
  if (api) {
    return `\n[Conversions](destinations.md#conversions-apis) are told with the kind \`${id}\`, ${api.label} (<${api.source}>). ${api.unverified ?? ''}\n`;
  }
  if (postback) {
    return [
      `\nThe preset of its [postback](destinations.md#postbacks), for ${code(postback.events)}:\n`,
      `\n\`\`\`\n${postback.method} ${postback.url}\n\`\`\`\n`,
      `\n${[...postback.notes, postback.unverified].join(' ')} Source: <${postback.source}>\n`,
    ].join('');
  }
  if (!roles.includes('advertising') || clickIds.length === 0) return '';
  const macros = clickIds.map((parameter) => `{click.${parameter}}`);
  return `\nNo public documentation of a postback was found. If ${name} gives you an address, enter it as a [postback](destinations.md#postbacks) with ${code(macros)} where it takes the click id.\n`;
}

const REPORTS: Readonly<Partial<Record<string, CostReport>>> = COST_REPORTS;

/** What a connector fetches of a network's costs; empty if there is none for it. */
function costsOf({ id }: Network): string {
  const report = REPORTS[id];
  if (!report) return '';
  const { labels, notes, unverified, sources } = report;
  return [
    `\nCosts are fetched by the [connector](costs.md#connectors) \`${id}\`: ${Object.values(labels).join(', ')}.\n`,
    `\n${list([...notes, ...unverified.map((text) => `Not verified: ${text}`)])}`,
    `\nSources: ${sources.map((source) => `<${source}>`).join(', ')}\n`,
  ].join('');
}

function section(network: Network): string {
  const { id, name, aliases, roles, clickIds, notes, unverified, sources } = network;
  const link = linkFor(network, 'https://example.com/t/…');
  const click = 'https://example.com/t/…?s2s=<secret>';
  const servers = serverLinksFor(network, { click, impression: `${click}&event=impression` });
  const facts = [
    `${name} ${and.format(roles.map((role) => ROLES[role]))}.`,
    `In \`media_source\`: ${code([id, ...Object.keys(aliases)])}.`,
    ...(clickIds.length > 0 ? [`Click ids: ${code(clickIds)}.`] : []),
    ...(link === null ? ['Its ads take no tracking link.'] : []),
  ];
  return [
    `## ${name}\n\n${facts.join(' ')}\n`,
    ...(link === null ? [] : [`\n\`\`\`\n${link}\n\`\`\`\n`]),
    ...(servers === null
      ? []
      : [
          `\nFor its servers, clicks and impressions:\n\n\`\`\`\n${servers.click}\n${servers.impression}\n\`\`\`\n`,
        ]),
    conversionsOf(network),
    ...(notes.length > 0 ? [`\n${list(notes)}`] : []),
    ...(unverified.length > 0 ? [`\nNot verified:\n\n${list(unverified)}`] : []),
    `\nSources: ${sources.map((source) => `<${source}>`).join(', ')}\n`,
    costsOf(network),
  ].join('');
}

const impressionSection = ([name, preset]: [string, ImpressionPreset]): string =>
  [
    `### ${preset.label}\n\nThe preset \`${name}\`.\n`,
    `\n\`\`\`\n${impressionAddress('https://example.com', '<secret>', preset)}\n\`\`\`\n`,
    ...(preset.unverified.length > 0 ? [`\nNot verified:\n\n${list(preset.unverified)}`] : []),
  ].join('');

/** The text of docs/networks.md. */
export const networksPage =
  (): string => `<!-- Written by \`npm run docs:networks\` from src/networks. Do not edit. -->

# Networks

What is known of each advertising network, the tracking link for its ads, and how it is told of conversions. \`GET /v1/creatives/{id}/links\` returns these links for a creative. The
network replaces the macros in its link; campaign, ad set, ad and click id are then stored with each click. Macros of device ids are left out.

None of the links, postbacks and conversions APIs was tried with the live network. What is not confirmed by the network's own documentation stands under *Not verified*.

${NETWORKS.map(section).join('\n')}
## Impression callbacks

Mediation platforms that call an address for each impression, and what to enter there; see [Callbacks](ad-revenue.md#callbacks).

${Object.entries(IMPRESSION_PRESETS).map(impressionSection).join('\n')}`;
