import { expect, it } from 'vitest';
import page from '../../docs/api.md?raw';
import { openApiDocument } from '../../src/docs/document.ts';
import { ENDPOINTS } from '../../src/service.ts';

// docs/api.md names every endpoint of the reference and no others.

const REPORT = '/v1/reports/';
const paths = Object.keys(openApiDocument('service', ENDPOINTS).paths ?? {});
const named = [...page.matchAll(/`((?:\/v1)?\/[a-z.][^`\s]*)`/g)].map(([, path = '']) => path);

it('names every endpoint', () => {
  const documented = paths.filter(
    (path) => !path.startsWith(REPORT) && !['/t/{token}', '/auth', '/health'].includes(path),
  );
  const api = named.filter(
    (path) => !['/v1/…', '/t/<token>', '/health', '/openapi.json', '/docs'].includes(path),
  );
  expect([...new Set(api)].sort()).toEqual([...documented, `${REPORT}{report}`].sort());
});

it('names every report', () => {
  const [, list = ''] = /The path of a report ends with its name: ([^.]*)\./.exec(page) ?? [];
  const reports = [...list.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  const served = paths.filter((path) => path.startsWith(REPORT)).map((path) => path.slice(REPORT.length));
  expect(reports.sort()).toEqual(served.sort());
});
