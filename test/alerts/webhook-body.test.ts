import { expect, it } from 'vitest';
import type { Message } from '../../src/alerts/message.ts';
import { toWebhookRequest } from '../../src/alerts/webhook-body.ts';

// Names with everything that chats act on: each must arrive as it reads, notify nobody and link nowhere.

const ORIGIN = 'https://dash.test';
const LINK = 'https://dash.test/alerts?app=app_1&x=1';
const SLACK = 'https://hooks.slack.com/services/T/B/x';
const DISCORD = 'https://discord.com/api/webhooks/1/secret';
/** An invisible space, made visible. */
const shown = (text: string) => text.replaceAll('\u200b', '·');

const messageOf = (name: string): Message => ({
  heading: 'Test game',
  sentences: [`Top: ${name}.`],
  figures: [],
  comparedWith: [],
  link: { path: '/alerts?app=app_1&x=1', label: 'Open the alerts' },
});

const post = (target: string, name: string) => {
  const { url, body } = toWebhookRequest(target, messageOf(name), ORIGIN);
  return { url, body: JSON.parse(JSON.stringify(body)) as { text?: string; content?: string } };
};

it.each([
  ['a plain name', 'Spring (20+)', 'Spring (20+)'],
  ['a mention of everyone', '<!channel>', '&lt;!channel&gt;'],
  ['a mention in words', '@channel @here @everyone', '@·channel @·here @·everyone'],
  [
    'a link with a text of its own',
    '<https://evil.test|Open the alerts>',
    '&lt;https:·//evil.test|Open the alerts&gt;',
  ],
  ['a Markdown link', '[Open](https://evil.test)', '[Open]·(https:·//evil.test)'],
  ['a URL', 'https://evil.test', 'https:·//evil.test'],
  ['an entity', '&lt;!channel&gt;', '&amp;lt;!channel&amp;gt;'],
  ['a line of its own', 'x\r\nRevenue: €1\u2028\u0007y', 'x Revenue: €1 y'],
])('writes %s for Slack and what reads its format', (_, name, expected) => {
  for (const target of [SLACK, 'https://chat.example.com/hooks/x']) {
    const { url, body } = post(target, name);
    expect(url).toBe(target);
    expect(Object.keys(body)).toEqual(['text']);
    expect(shown(body.text ?? '').split('\n')).toEqual(['Test game', `Top: ${expected}.`, LINK]);
  }
});

it.each([
  ['a plain name', 'Spring (20+)', 'Spring \\(20+\\)'],
  ['a mention of everyone', '@everyone @here', '@·everyone @·here'],
  ['a mention of a role', '<@&7> <#8>', '\\<@·&7\\> \\<\\#8\\>'],
  ['a Markdown link', '[Open](https://evil.test)', '\\[Open\\]·\\(https:·//evil.test\\)'],
  ['formatting', '**a** _b_ `c` ||d|| \\', '\\*\\*a\\*\\* \\_b\\_ \\`c\\` \\|\\|d\\|\\| \\\\'],
  ['a line of its own', 'x\n# y', 'x \\# y'],
])('writes %s for Discord', (_, name, expected) => {
  for (const target of [DISCORD, `${DISCORD}/slack`, `${DISCORD}/slack/`]) {
    const { url, body } = post(target, name);
    expect(url).toBe(DISCORD);
    expect({ ...body, content: shown(body.content ?? '').split('\n') }).toEqual({
      content: ['Test game', `Top: ${expected}.`, LINK],
      allowed_mentions: { parse: [] },
    });
  }
});

it('cuts what Discord would refuse as too long, and keeps the link', () => {
  const { body } = post(DISCORD, 'x'.repeat(3_000));
  expect(body.content).toHaveLength(2_000);
  expect(body.content?.endsWith(`x\n${LINK}`)).toBe(true);
});
