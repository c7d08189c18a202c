import { html } from 'hono/html';
import * as z from 'zod';
import { toOneLine } from '#lib/input/one-line';

// A message as it is stored until it is delivered, and how it is written for a webhook and for an email. Pure.

const Figure = z.object({
  label: z.string(),
  value: z.string(),
  /** The change from each of `comparedWith`, empty if there is nothing to compare with; no changes if the figure is not comparable. */
  changes: z.array(z.string()),
});

export const Message = z.object({
  heading: z.string(),
  sentences: z.array(z.string()),
  figures: z.array(Figure),
  /** What the figures' changes are from: `the day before`. */
  comparedWith: z.array(z.string()),
  /** Where to read more: a path of the dashboard and what it leads to. */
  link: z.object({ path: z.string(), label: z.string() }),
});
export type Message = z.infer<typeof Message>;

/** Leads from a message to the application's alerts. */
export const alertsLink = ({ id }: { id: string }): Message['link'] => ({
  path: `/alerts?${new URLSearchParams({ app: id })}`,
  label: 'Open the alerts',
});

const figureLine = ({ label, value, changes }: z.infer<typeof Figure>): string => {
  const isCompared = changes.some((change) => change !== '');
  return `${label}: ${value}${isCompared ? ` (${changes.map((change) => change || '–').join(', ')})` : ''}`;
};

/** One fact per line, whatever the names in it contain, and the URL of the link. `origin` is the dashboard's. */
export function toLines(
  { heading, sentences, figures, comparedWith, link }: Message,
  origin: string,
): { lines: string[]; url: string } {
  const lines = [
    heading,
    ...figures.map(figureLine),
    ...(figures.length > 0 ? [`In parentheses: the change from ${comparedWith.join(' and from ')}.`] : []),
    ...sentences,
  ];
  return { lines: lines.map(toOneLine), url: origin + link.path };
}

/** Plain text. `origin` is the dashboard's. */
export function toText(message: Message, origin: string): string {
  const { lines, url } = toLines(message, origin);
  return [...lines, url].join('\n');
}

// Mail clients ignore style sheets, so every element has its own style.
const CELL = 'padding:6px 0 6px 10px;border-top:1px solid #dcded9;text-align:right;white-space:nowrap';
const FIRST_CELL = 'padding:6px 0;border-top:1px solid #dcded9;text-align:left;font-weight:400';
const HEAD_CELL = 'padding:0 0 6px 10px;text-align:right;font-size:13px;font-weight:400;color:#565f5b';

const figuresTable = ({
  figures,
  comparedWith,
}: Message) => html`<table style="width:100%;border-collapse:collapse;margin:0 0 16px;font-size:15px">
<thead><tr><th style="${HEAD_CELL}"></th><th style="${HEAD_CELL}"></th>${comparedWith.map(
  (earlier) => html`<th scope="col" style="${HEAD_CELL}">vs. ${earlier}</th>`,
)}</tr></thead>
<tbody>${figures.map(
  ({ label, value, changes }) => html`<tr><th scope="row" style="${FIRST_CELL}">${label}</th>
<td style="${CELL};font-weight:600">${value}</td>${comparedWith.map((_, index) => html`<td style="${CELL}">${changes[index] || '–'}</td>`)}</tr>
`,
)}</tbody></table>`;

/** An HTML document for an email. */
export async function toHtml(message: Message, origin: string): Promise<string> {
  const { heading, sentences, figures, link } = message;
  const page = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${heading}</title></head>
<body style="margin:0;padding:24px 12px;background:#f6f6f4;color:#1b211f;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:20px 16px;background:#ffffff;border:1px solid #dcded9;border-radius:10px;overflow-wrap:break-word">
<h1 style="margin:0 0 16px;font-size:18px;line-height:1.3">${heading}</h1>
${figures.length > 0 ? figuresTable(message) : ''}
${sentences.map((sentence) => html`<p style="margin:0 0 16px">${sentence}</p>`)}
<p style="margin:0"><a href="${origin}${link.path}" style="color:#0f6b62">${link.label}</a></p>
</div></body></html>`;
  return String(page);
}
