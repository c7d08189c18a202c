import {
  IMPRESSION_PRESETS,
  type ImpressionPreset,
  impressionAddress,
  linkFor,
  NETWORKS,
  type Network,
  SKADNETWORK_SOURCE,
  serverLinksFor,
} from '#networks';
import { COST_REPORTS, type CostReport } from '#networks/costs';
import { CONVERSIONS } from '#networks/outbound';

const ROLES: Record<Network['roles'][number], string> = {
  advertising: 'shows your ads',
  monetization: 'shows ads in your app',
  mediation: 'mediates between networks',
};
const HEAD = '<!-- Written by `npm run docs:networks` from src/networks. Do not edit. -->\n';
/** Beside the folder of the pages. */
const INDEX = 'networks.md';

const code = (texts: readonly string[]) => texts.map((text) => `\`${text}\``).join(', ');
const and = new Intl.ListFormat('en');
const list = (texts: readonly string[]) => texts.map((text) => `- ${text}\n`).join('');
const sourcesLine = (sources: readonly string[]) =>
  `\nSources: ${sources.map((source) => `<${source}>`).join(', ')}\n`;
const unverifiedList = (texts: readonly string[]) =>
  texts.length > 0 ? `\nNot verified:\n\n${list(texts)}` : '';

const apiOf = ({ id }: Network) => (Object.hasOwn(CONVERSIONS, id) ? CONVERSIONS[id] : undefined);
const REPORTS: Readonly<Partial<Record<string, CostReport>>> = COST_REPORTS;

/** How the network is told of conversions. */
function conversionsOf(network: Network): string {
  const { id, name, clickIds, postback, roles } = network;
  const api = apiOf(network);
  if (api) {
    return `\n## Conversions\n\n[Conversions](destinations.md#conversions-apis) are told with the kind \`${id}\`, ${api.label} (<${api.source}>).\n${unverifiedList(api.unverified === null ? [] : [api.unverified])}`;
  }
  if (postback) {
    return [
      `\n## Conversions\n\nThe preset of its [postback](destinations.md#postbacks), for ${code(postback.events)}:\n`,
      `\n\`\`\`\n${postback.method} ${postback.url}\n\`\`\`\n`,
      ...(postback.notes.length > 0 ? [`\n${list(postback.notes)}`] : []),
      unverifiedList([postback.unverified]),
      sourcesLine([postback.source]),
    ].join('');
  }
  if (!roles.includes('advertising') || clickIds.length === 0) return '';
  const macros = clickIds.map((parameter) => `{click.${parameter}}`);
  return `\n## Conversions\n\nNo public documentation of a postback was found. If ${name} gives you an address, enter it as a [postback](destinations.md#postbacks) with ${code(macros)} where it takes the click id.\n`;
}

/** What a connector fetches of a network's costs; empty if there is none for it. */
function costsOf({ id }: Network): string {
  const report = REPORTS[id];
  if (!report) return '';
  const { labels, notes, unverified, sources } = report;
  return [
    `\n## Costs\n\nFetched by the [connector](costs.md#connectors) \`${id}\`: ${Object.values(labels).join(', ')}.\n`,
    `\n${list(notes)}`,
    unverifiedList(unverified),
    sourcesLine(sources),
  ].join('');
}

function linkOf(network: Network): string {
  const { notes, unverified, sources } = network;
  const link = linkFor(network, 'https://example.com/t/…');
  const click = 'https://example.com/t/…?s2s=<secret>';
  const servers = serverLinksFor(network, { click, impression: `${click}&event=impression` });
  return [
    `\n## Link\n`,
    link === null ? '\nIts ads take no tracking link.\n' : `\n\`\`\`\n${link}\n\`\`\`\n`,
    ...(servers === null
      ? []
      : [
          `\nFor its servers, clicks and impressions:\n\n\`\`\`\n${servers.click}\n${servers.impression}\n\`\`\`\n`,
        ]),
    ...(notes.length > 0 ? [`\n${list(notes)}`] : []),
    unverifiedList(unverified),
    sourcesLine(sources),
  ].join('');
}

const skadnetworkOf = ({ skadnetworkIds }: Network): string =>
  skadnetworkIds.length === 0
    ? ''
    : `\n## SKAdNetwork\n\nIts postbacks have the id ${code(skadnetworkIds.map((id) => `${id}.skadnetwork`))}. An app that shows its ads lists it under \`SKAdNetworkItems\` of its Info.plist. See [SKAdNetwork](skadnetwork.md).\n${sourcesLine([SKADNETWORK_SOURCE])}`;

/** Links to other pages, seen from the folder of the networks' pages. */
const fromFolder = (text: string) => text.replaceAll(/\]\((?!https?:)/g, '](../');

function networkPage(network: Network): string {
  const { id, name, aliases, roles, clickIds } = network;
  const facts = [
    `${name} ${and.format(roles.map((role) => ROLES[role]))}.`,
    `In \`media_source\`: ${code([id, ...Object.keys(aliases)])}.`,
    ...(clickIds.length > 0 ? [`Click ids that are kept: ${code(clickIds)}.`] : []),
  ];
  return fromFolder(
    [
      `${HEAD}\n# ${name}\n\n${facts.join(' ')} The dashboard has the same page with the state of your application under \`/networks/${id}\`. All [networks](${INDEX}).\n`,
      linkOf(network),
      conversionsOf(network),
      costsOf(network),
      skadnetworkOf(network),
    ].join(''),
  );
}

const impressionSection = ([name, preset]: [string, ImpressionPreset]): string =>
  [
    `### ${preset.label}\n\nThe preset \`${name}\`.\n`,
    `\n\`\`\`\n${impressionAddress('https://example.com', '<secret>', preset)}\n\`\`\`\n`,
    unverifiedList(preset.unverified),
  ].join('');

function row(network: Network): string {
  const { id, name, macros, clickIds, postback } = network;
  const cells = [
    `[${name}](networks/${id}.md)`,
    macros === null ? '–' : 'yes',
    code(clickIds) || '–',
    apiOf(network)?.label ?? (postback ? 'postback' : '–'),
    REPORTS[id] ? 'connector' : '–',
  ];
  return `| ${cells.join(' | ')} |\n`;
}

const indexPage = (): string => `${HEAD}
# Networks

What is known of each advertising network, a page each: the tracking link for its ads, how it is told of conversions, and where its costs come from. \`GET /v1/creatives/{id}/links\` returns these links for a creative. The
network replaces the macros in its link; campaign, ad set, ad and click id are then stored with each click. Macros of device ids are left out. The dashboard has the same under Operate → Network set-up, with the state of your application.

None of the links, postbacks and conversions APIs was tried with the live network. What is not confirmed by the network's own documentation stands under *Not verified*.

| network | link | click ids | conversions | costs |
|---|---|---|---|---|
${NETWORKS.map(row).join('')}
## Impression callbacks

Mediation platforms that call an address for each impression, and what to enter there; see [Callbacks](ad-revenue.md#callbacks).

${Object.entries(IMPRESSION_PRESETS).map(impressionSection).join('\n')}`;

/** The texts of the pages, by their path in docs. */
export const networkPages = (): Record<string, string> => ({
  [INDEX]: indexPage(),
  ...Object.fromEntries(NETWORKS.map((network) => [`networks/${network.id}.md`, networkPage(network)])),
});
