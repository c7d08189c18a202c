import type { Child, PropsWithChildren } from 'hono/jsx';
import type { Fault } from '#http';
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

/** A labelled control of a form, without what is in it. */
export type FormField = {
  label: string;
  name: string;
  type?: string;
  /** Whether it has several lines, or long ones. */
  isLong?: boolean;
  hint?: string;
  placeholder?: string;
  /** What a fault's sentence is about, if it does not read well after the label. */
  subject?: string;
  required?: boolean;
  options?: readonly (readonly [value: string, label: string])[];
  autocomplete?: string;
  min?: number;
  max?: number;
  minlength?: number;
  maxlength?: number;
  /** The name under which the value is submitted, if several fields share it. */
  submitted?: string;
  step?: string;
  /** The id of a `datalist`. */
  list?: string;
  /** What it has until something else is typed. */
  value?: string | undefined;
};

type FieldProps = FormField & { faults?: readonly Fault[] };

/** Each line of a long field may have a fault. */
const MAX_FAULTS = 10;

/** A labelled control; its hint and faults are linked to it for screen readers. */
export const Field = ({
  label,
  name,
  hint,
  subject = label,
  faults = [],
  options,
  value,
  type = 'text',
  isLong = false,
  ...more
}: FieldProps) => {
  const own = faults.filter(({ path }) => path === name);
  const shown = own.slice(0, isLong ? MAX_FAULTS : 1);
  const faultId = (at: number) => `${name}-fault${at === 0 ? '' : at + 1}`;
  const described = [hint && `${name}-hint`, ...shown.map((_, at) => faultId(at))].filter(Boolean).join(' ');
  const shared = {
    id: `field-${name}`,
    name: more.submitted ?? name,
    required: more.required,
    placeholder: more.placeholder,
    ...(described ? { 'aria-describedby': described } : {}),
    ...(shown.length > 0 ? { 'aria-invalid': 'true' as const } : {}),
  };
  return (
    <div class="field">
      <label for={`field-${name}`}>{label}</label>
      {options ? (
        <select {...shared}>
          {options.map(([option, text]) => (
            <option value={option} selected={option === value}>
              {text}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea {...shared} spellcheck={false}>
          {/* A browser drops the first line break. */}
          {`\n${value ?? ''}`}
        </textarea>
      ) : (
        <input
          {...shared}
          type={type}
          value={value}
          autocomplete={more.autocomplete ?? 'off'}
          min={more.min}
          max={more.max}
          minlength={more.minlength}
          maxlength={more.maxlength}
          step={more.step}
          list={more.list}
        />
      )}
      {hint && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {shown.map(({ message }, at) => (
        <p class="fault" id={faultId(at)}>
          {subject} {message}
        </p>
      ))}
      {isLong && own.length > MAX_FAULTS && <p class="fault">{`and ${own.length - MAX_FAULTS} more`}</p>}
    </div>
  );
};

type Sorted = 'ascending' | 'descending';

export type Column<Row> = {
  label: string;
  numeric?: boolean;
  /** Allows long text to wrap. */
  wrap?: boolean;
  /** Hidden on phones, to leave room for the figures. */
  wideOnly?: boolean;
  /** The unit of its figures, shown after the label. */
  unit?: string;
  /** Explains the column to people who are new to the term. */
  hint?: string | undefined;
  /** The URL that a click on the heading leads to, for sortable columns. */
  sortHref?: string;
  sorted?: Sorted;
  /** Another order of the column, such as by its change. */
  also?: { label: string; href: string; sorted?: Sorted };
  /** Additional classes and title of a row's cell. */
  classOf?: (row: Row) => string;
  titleOf?: (row: Row) => string;
  cell: (row: Row) => Child;
};

function classOf<Row>({ numeric, wrap, wideOnly }: Column<Row>): string {
  return [numeric && 'number', wrap && 'wrap', wideOnly && 'wide-only'].filter(Boolean).join(' ');
}

const sortedBy = (sorted: Sorted | undefined) => (sorted ? { 'aria-sort': sorted } : {});
const orderOf = (sorted: Sorted | undefined) => (sorted ? { 'data-order': sorted } : {});

/** A table that scrolls horizontally if it is wider than the screen. */
export function Table<Row>({
  caption,
  columns: shown,
  rows,
  empty = 'Nothing here yet.',
  actions,
  totals,
  sticky = false,
  kind = '',
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  empty?: Child;
  /** The cell of a last column, for people who may do something with a row. */
  actions?: false | ((row: Row) => Child);
  /** The last row, with one cell per column. */
  totals?: readonly Child[];
  /** Whether the header and first column stay visible while the table scrolls. */
  sticky?: boolean;
  kind?: '' | 'heat-map' | 'funnel';
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const columns = actions ? [...shown, { label: 'Actions', numeric: true, cell: actions }] : shown;
  return (
    <section class={sticky ? 'scroll sticky' : 'scroll'} aria-label={caption} tabindex={0}>
      <table class={kind}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                scope="col"
                class={classOf(column)}
                {...(column.hint ? { title: column.hint } : {})}
                {...sortedBy(column.sorted ?? column.also?.sorted)}
              >
                <span {...(column.unit ? { 'data-unit': column.unit } : {})}>
                  {column.sortHref ? (
                    <a href={column.sortHref} {...orderOf(column.sorted)}>
                      {column.label}
                    </a>
                  ) : (
                    column.label
                  )}
                </span>
                {column.also && (
                  <a class="also" href={column.also.href} {...orderOf(column.also.sorted)}>
                    {column.also.label}
                  </a>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map((column) => (
                <td
                  class={[classOf(column), column.classOf?.(row)].filter(Boolean).join(' ')}
                  {...(column.titleOf ? { title: column.titleOf(row) } : {})}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        {totals && (
          <tfoot>
            <tr>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th scope="row">{totals[index]}</th>
                ) : (
                  <td class={classOf(column)}>{totals[index]}</td>
                ),
              )}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** The link to what follows a part of a long list; nothing at its end. */
export const NextPart = ({
  cursor,
  to,
  label = 'Older',
}: {
  cursor: string | null | undefined;
  to: (cursor: string) => string;
  label?: string;
}) =>
  cursor ? (
    <p class="pages">
      <a href={to(cursor)}>{label}</a>
    </p>
  ) : null;

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
