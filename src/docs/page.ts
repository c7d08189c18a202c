/** The page loads everything from its own origin and has no inline scripts or styles. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Attribution API</title>
<link rel="stylesheet" href="/swagger-ui/swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<main id="documentation"><noscript>This page needs JavaScript. The document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript></main>
<script src="/swagger-ui/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Errors link to `/docs#post-webhook`. The script translates this into Swagger UI's own anchor of the operation. */
export const SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
follow();
dark.addEventListener('change', follow);
const anchor = decodeURIComponent(location.hash.slice(1));
fetch('/openapi.json').then((answer) => answer.json()).then((spec) => {
  const operations = Object.values(spec.paths).flatMap((path) => Object.values(path));
  const found = operations.find((operation) => operation.operationId === anchor);
  if (found) history.replaceState(null, '', '#/' + encodeURIComponent(found.tags[0]) + '/' + found.operationId);
  SwaggerUIBundle({ spec, dom_id: '#documentation', deepLinking: true, validatorUrl: null });
});
`;
