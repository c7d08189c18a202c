import { Hono } from 'hono';
import { html } from 'hono/html';
import { settingsOf } from '#env';
import type { AppEnv, Endpoint } from '#http';

type OpenApiDocument = ReturnType<typeof import('./document.ts').openApiDocument>;

const documents = new Map<string, OpenApiDocument>();

/** The document, loaded and built on first request, which keeps it out of the startup of isolates that only receive events. */
async function documentFor(serviceName: string, endpoints: readonly Endpoint[]): Promise<OpenApiDocument> {
  let document = documents.get(serviceName);
  if (!document) {
    const { openApiDocument } = await import('./document.ts');
    document = openApiDocument(serviceName, endpoints);
    documents.set(serviceName, document);
  }
  return document;
}

export const docsRoutes = (endpoints: readonly Endpoint[]) =>
  new Hono<AppEnv>()
    .get('/openapi.json', async (c) => c.json(await documentFor(settingsOf(c.env).SERVICE_NAME, endpoints)))
    .get('/docs', async (c) => {
      const { CONTENT_SECURITY_POLICY, DocsPage } = await import('./page.tsx');
      const document = await documentFor(settingsOf(c.env).SERVICE_NAME, endpoints);
      c.header('Content-Security-Policy', CONTENT_SECURITY_POLICY);
      c.header('X-Content-Type-Options', 'nosniff');
      return c.html(html`<!doctype html>${DocsPage({ document })}`);
    });
