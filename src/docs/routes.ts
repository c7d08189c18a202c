import { Hono } from 'hono';
import { settingsOf } from '#env';
import type { AppEnv } from '#http';
import { openApiDocument } from './document.ts';
import { CONTENT_SECURITY_POLICY, PAGE, SCRIPT } from './page.ts';

const documents = new Map<string, ReturnType<typeof openApiDocument>>();

function documentFor(serviceName: string) {
  let document = documents.get(serviceName);
  if (!document) {
    document = openApiDocument(serviceName);
    documents.set(serviceName, document);
  }
  return document;
}

export const docsRoutes = new Hono<AppEnv>()
  .get('/openapi.json', (c) => c.json(documentFor(settingsOf(c.env).SERVICE_NAME)))
  .get('/docs', (c) => {
    c.header('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    c.header('X-Content-Type-Options', 'nosniff');
    return c.html(PAGE);
  })
  .get('/docs/start.js', (c) => {
    c.header('Content-Type', 'text/javascript; charset=utf-8');
    return c.body(SCRIPT);
  });
