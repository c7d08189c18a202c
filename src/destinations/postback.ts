import * as z from 'zod';
import { optionalText, requiredText } from '#http';
import {
  type DestinationKind,
  type DestinationSetup,
  type OutboundRequest,
  readStatus,
  refusalOf,
} from '#networks/outbound';
import {
  inHeader,
  inJson,
  inUrl,
  MACROS,
  type MacroPart,
  macroFaults,
  macrosOf,
  partsOf,
  SECRET_MACRO,
  type TemplatePart,
  valuesOf,
} from './template.ts';

// A network's own URL from a template. Each value is escaped for where it stands.

const METHODS = ['GET', 'POST', 'PUT'] as const;
/** Shown in place of the credential. */
const HIDDEN = '***';
const ESCAPES = { url: inUrl, header: inHeader, json: inJson } as const;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Set by whoever sends, or about the connection itself. */
const REFUSED_HEADER =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|via|cookie|forwarded|x-forwarded-.*|cf-.*|proxy-.*|sec-.*)$/i;
const HEADER = /^([!#$%&'*+.^`|~\w-]+):[ \t]*(.*)$/;

type Template = DestinationSetup['settings'];

const linesOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

const headersOf = (text: string | undefined): { name: string; value: string }[] =>
  linesOf(text).flatMap((line) => {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    return name === '' ? [] : [{ name, value }];
  });

const isContentType = (name: string): boolean => name.toLowerCase() === 'content-type';

/** The type of the body, without its parameters. */
function bodyType({ headers }: Template): string {
  const given = headersOf(headers).find(({ name }) => isContentType(name))?.value ?? JSON_TYPE;
  return (given.split(';')[0] ?? '').trim().toLowerCase();
}

/** Before the first `/`, `?` or `#`: the scheme and the host. */
const ORIGIN = /^[^:]*:\/\/[^/?#]*/;

/** `..` as a value would lead to another path. */
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

const pathOf = (url: string): string => url.replace(ORIGIN, '').split(/[?#]/)[0] ?? '';

/** Stands for any value: letters and digits, which any parser leaves as they are. */
const MARK = 'zq7macro7qz';

/**
 * The scheme, user, host and port of a URL whose macros are marked, as whoever sends it reads them: `https:/{x}`, `https:\\{x}` and others with
 * blanks in them name the host, too. Null if it is no URL.
 */
function authorityOf(marked: string): string | null {
  if (!URL.canParse(marked)) return null;
  const { protocol, username, password, host } = new URL(marked);
  return [protocol, username, password, host].join(' ');
}

/** Whether a value could stand in the scheme, the user, the host or the port. */
const hasMacroInAuthority = (url: string): boolean =>
  new RegExp(`${MARK}|[{}]`).test(authorityOf(fill(url, () => MARK)) ?? '');

/** Whether the text before a part of a JSON template leaves a string open. */
function endsInString(json: string, wasInString: boolean): boolean {
  let [inString, isEscaped] = [wasInString, false];
  for (const character of json) {
    if (isEscaped) isEscaped = false;
    else if (inString && character === '\\') isEscaped = true;
    else if (character === '"') inString = !inString;
  }
  return inString;
}

/** The parts of a JSON template, each with whether it stands within a string. */
function jsonParts(template: string): { part: TemplatePart; inString: boolean }[] {
  let inString = false;
  return partsOf(template).map((part) => {
    const at = { part, inString };
    if (typeof part === 'string') inString = endsInString(part, inString);
    return at;
  });
}

/** A template filled: `toText` gives the text of a macro. */
const fill = (template: string, toText: (part: MacroPart) => string): string =>
  partsOf(template)
    .map((part) => (typeof part === 'string' ? part : toText(part)))
    .join('');

function urlFault(url: string): string | null {
  // Absent, which has a fault of its own.
  if (url === '') return null;
  // Parsers drop some of them, wherever they stand.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused.
  if (/[\u0000-\u001f\u007f]/.test(url)) return 'must not have tabs, line breaks or control characters';
  if ((url.split('?')[0] ?? '').includes('\\')) return 'must not have a backslash (\\)';
  if (hasMacroInAuthority(url) || /[{}]/.test(ORIGIN.exec(url)?.[0] ?? ''))
    return 'must name its host: macros may stand in the path and the query';
  if (url.includes('#')) return 'must not have a fragment (#)';
  const placeholder = /<[^<>]*>/.exec(url)?.[0];
  if (placeholder) return `has ${placeholder}: put your own value there`;
  if (!URL.canParse(fill(url, () => 'x'))) return 'must be a URL';
  return DOT_SEGMENT.test(pathOf(fill(url, () => 'x'))) ? 'must not have . or .. in its path' : null;
}

function headersFault(text: string | undefined): string | null {
  const names = new Set<string>();
  for (const line of linesOf(text)) {
    const [, name] = HEADER.exec(line) ?? [];
    if (name === undefined) return 'must have one header a line, as Name: value';
    if (REFUSED_HEADER.test(name)) return `must not set ${name}`;
    if (/[^\t\x20-\x7e]/.test(line)) return `must be of ASCII characters: ${name}`;
    if (names.has(name.toLowerCase())) return `must have ${name} once`;
    names.add(name.toLowerCase());
  }
  return null;
}

function jsonFault(body: string): string | null {
  const bare = jsonParts(body).find(
    ({ part, inString }) => typeof part !== 'string' && !inString && !MACROS[part.name]?.isNumber,
  )?.part;
  if (bare !== undefined && typeof bare !== 'string')
    return `must have ${bare.text} in quotes, as it may be text`;
  const probe = jsonParts(body).map(({ part, inString }) =>
    typeof part === 'string' ? part : inString ? 'x' : '0',
  );
  try {
    JSON.parse(probe.join(''));
    return null;
  } catch {
    return 'must be JSON';
  }
}

function bodyFault(settings: Template): string | null {
  const { body, method } = settings;
  if (body === undefined) return null;
  if (method === 'GET') return 'must be empty, as GET has no body';
  if (bodyType(settings) === FORM_TYPE) return null;
  return bodyType(settings) === JSON_TYPE
    ? jsonFault(body)
    : `needs a Content-Type of ${JSON_TYPE} or ${FORM_TYPE}`;
}

const TEMPLATES = ['url', 'headers', 'body'] as const;

const TemplateFields = z
  .object({
    method: requiredText(8)
      .toUpperCase()
      .pipe(z.enum(METHODS, { error: `must be one of ${METHODS.join(', ')}` })),
    url: requiredText(2048),
    headers: optionalText(4096),
    body: optionalText(8192),
  })
  .superRefine((settings, ctx) => {
    const { url, headers, body, method } = settings;
    const own = {
      url: urlFault(url),
      headers: headersFault(headers),
      body: bodyFault({ method, ...(headers ? { headers } : {}), ...(body ? { body } : {}) }),
    };
    for (const name of TEMPLATES) {
      const faults = macroFaults(settings[name] ?? '');
      const fault = faults.length > 0 ? faults.join('; ') : own[name];
      if (fault) ctx.addIssue({ code: 'custom', path: [name], message: fault });
    }
  });

type Filled = Pick<OutboundRequest, 'url' | 'headers' | 'body'>;

/** A template with its values. `secretIn`: the credential as it stands in a place, or what is shown instead. */
function fillAll(
  template: Template,
  values: ReadonlyMap<string, string | null>,
  secretIn: (place: 'url' | 'header' | 'json') => string,
): Filled {
  const { headers, body = null } = template;
  const filled = (place: 'url' | 'header' | 'json') => (part: MacroPart) =>
    part.name === SECRET_MACRO ? secretIn(place) : ESCAPES[place](values.get(part.text) ?? '');
  const toJson = (text: string) =>
    jsonParts(text)
      .map(({ part, inString }) => {
        if (typeof part === 'string') return part;
        return inString ? filled('json')(part) : (values.get(part.text) ?? 'null');
      })
      .join('');
  const toBody = (text: string) =>
    bodyType(template) === FORM_TYPE ? fill(text, filled('url')) : toJson(text);
  const own = headersOf(headers).map(({ name, value }) => [name, fill(value, filled('header'))] as const);
  const isTyped = own.some(([name]) => isContentType(name));
  return {
    url: fill(template.url ?? '', filled('url')),
    headers: {
      ...(body === null || isTyped ? {} : { 'Content-Type': JSON_TYPE }),
      ...Object.fromEntries(own),
    },
    body: body === null ? null : toBody(body),
  };
}

/** The macros that an event needs and lacks, as they are written. */
const lacking = (templates: readonly string[], values: ReadonlyMap<string, string | null>): string[] => [
  ...new Set(
    templates
      .flatMap(macrosOf)
      .filter(({ text, isOptional }) => !isOptional && values.get(text) === null)
      .map(({ text }) => text),
  ),
];

/** A request to a URL of the template. An event that lacks a macro which is not optional is skipped. */
export const postback: DestinationKind = {
  label: 'Postback',
  settings: TemplateFields,
  credentials: z.object({
    secret: optionalText(2048).refine(
      (text) => !/[^\x20-\x7e]/.test(text ?? ''),
      'must be of ASCII characters',
    ),
  }),
  labels: {
    method: 'Method',
    url: 'URL',
    headers: 'Headers, one a line',
    body: 'Body',
    secret: 'Value of {secret}',
  },
  source: 'docs/destinations.md',
  unverified: null,
  describe: ({ settings }) => (settings.url ?? '').split(/[?#]/)[0] ?? '',
  async prepare(event, { settings, credentials: { secret } }) {
    const refusal = refusalOf(event);
    if (refusal !== null) return { skipped: refusal };
    const templates = TEMPLATES.flatMap((name) => settings[name] ?? []);
    const usesSecret = templates.flatMap(macrosOf).some(({ name }) => name === SECRET_MACRO);
    if (usesSecret && secret === undefined)
      return { skipped: 'The template has {secret}, but no value for it is set' };
    const values = await valuesOf(templates, event);
    const missing = lacking(templates, values);
    if (missing.length > 0) return { skipped: `The event has no ${missing.join(', ')}` };
    const sent = fillAll(settings, values, (place) =>
      place === 'header' ? (secret ?? '') : ESCAPES[place](secret ?? ''),
    );
    // An earlier release may have saved it.
    if (hasMacroInAuthority(settings.url ?? ''))
      return { skipped: 'A value would change the host of the URL' };
    if (DOT_SEGMENT.test(pathOf(sent.url))) return { skipped: 'A value would change the path of the URL' };
    const method = METHODS.find((one) => one === settings.method) ?? 'GET';
    return { method, ...sent, shown: fillAll(settings, values, () => HIDDEN) };
  },
  read: readStatus,
};
