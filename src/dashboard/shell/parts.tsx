import type { Child, PropsWithChildren } from 'hono/jsx';
import { Info } from './info.tsx';

// Small components of pages. They never use a style attribute, because the content security policy forbids it.

export const Notice = ({
  kind = 'info',
  children,
}: PropsWithChildren<{ kind?: 'info' | 'good' | 'bad' }>) => (
  <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
);

/** `info` are caveats of what it shows, behind a mark. */
export const Card = ({
  title,
  id,
  aside,
  info,
  children,
}: PropsWithChildren<{ title: string; id?: string; aside?: Child; info?: Child }>) => (
  <section class="card" {...(id ? { id } : {})}>
    <header class="card-head">
      <div class="card-title">
        <h2>{title}</h2>
        {info && <Info about={title}>{info}</Info>}
      </div>
      {aside}
    </header>
    {children}
  </section>
);

/** A card that is closed until someone needs it, such as a form on a page that has data. An address with its id opens it. */
export const FoldedCard = ({
  title,
  id,
  open = false,
  children,
}: PropsWithChildren<{ title: string; id?: string; open?: boolean }>) => (
  <details class="card" {...(id ? { id } : {})} open={open}>
    <summary class="card-head">
      <h2>{title}</h2>
    </summary>
    {children}
  </details>
);

/** A button that opens a form beside it. */
export const FormMenu = ({
  label,
  id,
  open = false,
  kind = '',
  from = 'right',
  children,
}: PropsWithChildren<{
  label: string;
  id: string;
  open?: boolean;
  kind?: '' | 'quiet';
  /** The side of the button at which the form begins. */
  from?: 'left' | 'right';
}>) => (
  <details class="pop" id={id} data-pop open={open}>
    <summary class={`button ${kind}`.trim()}>{label}</summary>
    <div class={`sheet ${from} form`}>{children}</div>
  </details>
);

/** What a page shows until it has data: a faint picture of what will be here, a sentence and a way there. */
export const Blank = ({
  text,
  way,
}: {
  text: string;
  way?: readonly [text: string, href: string] | undefined;
}) => (
  <div class="blank">
    <svg class="ghost" viewBox="0 0 340 90" aria-hidden="true">
      <path
        d="M0 88h340M0 60h340M0 32h340M0 70L48 58 96 64 144 34 192 46 240 22 288 30 340 8"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
      />
    </svg>
    <p class="empty">
      {text}{' '}
      {way && (
        <a class="button quiet" href={way[1]}>
          {way[0]}
        </a>
      )}
    </p>
  </div>
);

const MAX_NAME = 40;
const TAIL = 14;
const characters = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A name cut in the middle, because names of creatives often differ only at their end. Its full text belongs into a title. */
export function cutMiddle(name: string): string {
  if (name.length <= MAX_NAME) return name;
  const parts = [...characters.segment(name)].map(({ segment }) => segment);
  if (parts.length <= MAX_NAME) return name;
  return `${parts
    .slice(0, MAX_NAME - TAIL)
    .join('')
    .trimEnd()}…${parts.slice(-TAIL).join('').trimStart()}`;
}

/** A name that someone typed, cut in the middle, in its own direction of writing. */
export const Name = ({ name }: { name: string }) => <bdi title={name}>{cutMiddle(name)}</bdi>;

/** Names from the outermost to the innermost, each with its own direction of writing. */
export const NamePath = ({ names }: { names: readonly string[] }) => (
  <>
    {names.map((name, index) => (
      <>
        {index > 0 && ' › '}
        <bdi>{cutMiddle(name)}</bdi>
      </>
    ))}
  </>
);

/** A long value is set in smaller type, because it must not wrap. */
export const sizeOf = (value: string) =>
  value.length > 10 ? { class: 'longest' } : value.length > 8 ? { class: 'long' } : {};

/** A figure with its label, in a `<dl class="figures">`. */
export const Figure = ({
  label,
  hint,
  metric,
  value,
  mark,
  note,
  bad = false,
  children,
}: PropsWithChildren<{
  label: string;
  hint?: string | undefined;
  metric?: string;
  value: string;
  mark?: Child;
  note?: string;
  bad?: boolean;
}>) => (
  <div class={bad ? 'figure bad' : 'figure'} {...(hint ? { title: hint } : {})}>
    <dt>{label}</dt>
    <dd>
      <strong {...sizeOf(value)} {...(metric ? { 'data-metric': metric } : {})}>
        {value}
        {mark}
      </strong>
      {note !== undefined && <span class="muted">{note}</span>}
      {children}
    </dd>
  </div>
);

/** Facts about one thing, each with its label. Those of `false` are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [label: string, text: Child] | false)[] }) => (
  <dl class="facts">
    {facts.map(
      (fact) =>
        fact && (
          <>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </>
        ),
    )}
  </dl>
);

/** What a form sends besides what someone types. */
export const HiddenFields = ({ fields }: { fields: Iterable<readonly [name: string, value: string]> }) => (
  <>
    {[...fields].map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
);

/** A button that changes something, in a form of its own. If scripts run, `confirm` is asked first. */
export const Action = ({
  to,
  label,
  kind = '',
  confirm,
  fields = {},
}: {
  to: string;
  label: string;
  kind?: '' | 'quiet' | 'danger';
  confirm?: string;
  fields?: Record<string, string>;
}) => (
  <form method="post" action={to} class="inline" {...(confirm ? { 'data-confirm': confirm } : {})}>
    <HiddenFields fields={Object.entries(fields)} />
    <button type="submit" class={kind}>
      {label}
    </button>
  </form>
);
