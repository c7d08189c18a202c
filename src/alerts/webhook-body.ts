import { type Message, toLines } from './message.ts';

// How a message is posted to a webhook. Names in it come from outside: of campaigns, of applications. They must not notify everyone in a chat, and
// no part of them may become a link. Pure.

const INVISIBLE = '\u200b';

/** Chats make links of URLs and of Markdown's `[text](url)`, and some notify at `@channel` wherever it stands. An invisible space stops both. */
const inert = (line: string) =>
  line
    .replaceAll('@', `@${INVISIBLE}`)
    .replaceAll('://', `:${INVISIBLE}//`)
    .replaceAll('](', `]${INVISIBLE}(`);

/** Slack's format, which others accept, too: `<…>` is a link or a mention, and these three characters are written as entities. */
const toSlack = (line: string) =>
  inert(line).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const toDiscord = (line: string) => inert(line).replace(/[\\`*_~|<>[\]()#-]/g, '\\$&');

const DISCORD_HOSTS = new Set(['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com']);
const MAX_DISCORD_CHARACTERS = 2_000;

/** Discord's own format, because its Slack-compatible one cannot forbid mentions. A longer text is cut before the link. */
function discordBody(lines: readonly string[], link: string) {
  const text = lines.map(toDiscord).join('\n');
  const content = `${text.slice(0, MAX_DISCORD_CHARACTERS - link.length - 1)}\n${link}`;
  return { content, allowed_mentions: { parse: [] } };
}

/** The request that posts a message to a webhook: its URL, and its body, to be sent as JSON. `origin` is the dashboard's. */
export function toWebhookRequest(
  target: string,
  message: Message,
  origin: string,
): { url: string; body: object } {
  const { lines, url: link } = toLines(message, origin);
  const url = new URL(target);
  if (!DISCORD_HOSTS.has(url.hostname)) {
    return { url: target, body: { text: [...lines.map(toSlack), link].join('\n') } };
  }
  url.pathname = url.pathname.replace(/\/slack\/?$/, '');
  return { url: url.href, body: discordBody(lines, link) };
}
