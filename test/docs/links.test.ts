import { expect, it } from 'vitest';
import { openApiDocument } from '../../src/docs/document.ts';
import { ENDPOINTS } from '../../src/service.ts';
import { startWorker } from '../helpers/worker.ts';

const { request } = startWorker();

/** Links of Markdown, in any description. */
const written = [...JSON.stringify(openApiDocument('service', ENDPOINTS)).matchAll(/\]\((\/[^)"\\]*)\)/g)];

it('has no link that leads nowhere', async () => {
  const page = await (await request('/docs')).text();
  const shown = [...page.matchAll(/ (?:href|src)="(\/[^"]*)"/g)];
  const links = new Set([...written, ...shown].map(([, link = '']) => link.split('#')[0] ?? ''));
  for (const link of ['/docs', ...links]) {
    // Static files are answered by the platform.
    if (/\.(?:css|js|svg)$/.test(link)) continue;
    const { status } = await request(link, { redirect: 'follow' });
    expect([link, status < 400 || status === 401]).toEqual([link, true]);
  }
  const sections = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  for (const [, id] of page.matchAll(/ href="#([^"]+)"/g)) expect(sections).toContain(id);
});
