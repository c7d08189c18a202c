import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { LinkPreview } from '#db';
import { toBase64Url } from '#lib/encoding/base64url';

type RenderedPage = { body: HtmlEscapedString | Promise<HtmlEscapedString>; nonce: string };

/** Allows nothing from other origins, inline code only with this answer's nonce, and requests only to this origin. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const newNonce = () => toBase64Url(crypto.getRandomValues(new Uint8Array(16)));

const STYLE = `:root{color-scheme:light dark}
body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1.5rem;text-align:center}
a{display:inline-block;padding:.7rem 1.4rem;border:1px solid;border-radius:.6rem;color:inherit;text-decoration:none}`;

/**
 * Measures what the application will later report about the same phone, and moves on without waiting for the answer. Whatever fails, the
 * person is sent on. It reads its inputs from the document, so that its text is the same for everyone.
 */
const SCRIPT = `const {click, to} = document.currentScript.dataset;
try {
  const body = JSON.stringify({
    click_id: click,
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    screen_width: screen.width,
    screen_height: screen.height,
    pixel_ratio: devicePixelRatio,
    touch_points: navigator.maxTouchPoints,
  });
  const sent = navigator.sendBeacon && navigator.sendBeacon(location.pathname, new Blob([body], {type: 'application/json'}));
  if (!sent) fetch(location.pathname, {method: 'POST', body, keepalive: true, headers: {'Content-Type': 'application/json'}});
} catch {}
location.replace(to);`;

/** A page; `nonce` is that of code in its content. */
function layout(title: string, content: unknown, head: unknown = '', nonce = newNonce()): RenderedPage {
  const body = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style nonce="${nonce}">${raw(STYLE)}</style>
${head}
</head>
<body><main>${content}</main></body>
</html>`;
  return { body, nonce };
}

/** Measures the phone on the way to the store. Without JavaScript it only redirects. */
export function landingPage(applicationName: string, destination: string, clickId: string): RenderedPage {
  const nonce = newNonce();
  const goOn = html`<noscript><meta http-equiv="refresh" content="0;url=${destination}"></noscript>`;
  const content = html`<p><a href="${destination}">Continue to ${applicationName}</a></p>
<script nonce="${nonce}" data-click="${clickId}" data-to="${destination}">${raw(SCRIPT)}</script>`;
  return layout(applicationName, content, goOn, nonce);
}

/** What messengers and social networks read to show a link. */
export function previewPage({ title, description, image_url }: LinkPreview, address: string): RenderedPage {
  const properties = { title, description, image: image_url, url: address, type: 'website' };
  const tags = Object.entries(properties).flatMap(([name, value]) =>
    value === null ? [] : [html`<meta property="og:${name}" content="${value}">`],
  );
  const card = image_url === null ? 'summary' : 'summary_large_image';
  const head = html`${tags}<meta name="twitter:card" content="${card}">`;
  return layout(title, html`<h1>${title}</h1><p>${description ?? ''}</p>`, head);
}

/** Shown if an application has no destination. */
export function plainPage(applicationName: string): RenderedPage {
  const content = html`<h1>${applicationName}</h1><p>This application has no page in a store yet.</p>`;
  return layout(applicationName, content);
}

export function unknownLinkPage(): RenderedPage {
  const content = html`<h1>This link leads nowhere</h1><p>It may have been copied incompletely.</p>`;
  return layout('Link not found', content);
}
