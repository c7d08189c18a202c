import { expect, it } from 'vitest';
import page from '../../docs/destinations.md?raw';
import { KIND_NAMES, kindOf } from '../../src/destinations/kinds.ts';
import { MACROS } from '../../src/destinations/template.ts';
import { webhook } from '../../src/destinations/webhook.ts';
import { signWebhook } from '../../src/destinations/webhook-signature.ts';
import { outboundEvent, requestOf } from './events.ts';

// What docs/destinations.md shows is what is sent.

const found = (pattern: RegExp): string => {
  const [, value] = pattern.exec(page) ?? [];
  if (value === undefined) throw new Error(`docs/destinations.md says nothing like ${pattern}`);
  return value;
};

it('shows the body of a webhook', async () => {
  const setup = { settings: { url: 'https://example.com/' }, credentials: {}, secrets: [], isTest: false };
  const { body } = await requestOf(webhook.prepare(outboundEvent(), setup, 0));
  expect(JSON.parse(found(/```json\n(\{[\s\S]+?\n\})\n```/))).toEqual(JSON.parse(body ?? ''));
});

it('shows a signature that is made so', async () => {
  const signed = {
    id: found(/the id `(msg_\w+)`/),
    body: found(/the body `([^`]+)`/),
    secrets: [found(/`(whsec_[^`]{8,})`/)],
  };
  const headers = await signWebhook(signed, Number(found(/the time `(\d+)`/)) * 1000);
  expect(headers['webhook-signature']).toBe(found(/the signature is\s+`([^`]+)`/));
});

it('lists every macro', () => {
  const rows = Object.entries(MACROS).map(([name, { argument, isArgumentOptional }]) => {
    const dot = argument !== undefined && !isArgumentOptional ? '.<name>' : '';
    return `{${name}${dot}}`;
  });
  const described = [...page.matchAll(/^\| `(\{[^`]+\})` \| \S.+ \|$/gm)].map(([, macro]) => macro);
  expect(described).toEqual(rows);
});

it('names every kind, and its settings', () => {
  for (const name of KIND_NAMES) {
    expect(page).toContain(`| \`${name}\` |`);
    const { settings, credentials } = kindOf(name);
    for (const field of [...Object.keys(settings.shape), ...Object.keys(credentials.shape)]) {
      expect(page, `${name}.${field}`).toContain(`\`${field}\``);
    }
  }
});
