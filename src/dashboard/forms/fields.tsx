import type { PropsWithChildren } from 'hono/jsx';
import { ViewFields } from '../shell/report.tsx';
import type { Here, View } from '../shell/view.ts';
import { Field, type FormField } from './field.tsx';
import type { Submitted } from './form.ts';

type FieldsProps = Submitted & { fields: readonly FormField[] };

/** The fields of a form: what was typed, or what they begin with, and what is wrong with it. Passwords are typed again. */
export const Fields = ({ fields, values = {}, faults = [] }: FieldsProps) => (
  <>
    {fields.map((field) => (
      <Field
        {...field}
        value={field.type === 'password' ? undefined : (values[field.name] ?? field.value ?? '')}
        faults={faults}
      />
    ))}
  </>
);

/** The password that someone has, or a new one. */
export const currentPasswordField = (label: string, name = 'password'): FormField => ({
  ...{ label, name, type: 'password', autocomplete: 'current-password', required: true },
});
export const newPasswordField = (label: string, hint: string, name = 'password'): FormField => ({
  ...{ label, hint, name, type: 'password', autocomplete: 'new-password', required: true },
  ...{ minlength: 12, maxlength: 128 },
});

/** A form that changes something. Its children stand above the fields. */
export const PostForm = ({
  to,
  button,
  children,
  ...shown
}: PropsWithChildren<FieldsProps & { to: string; button: string }>) => (
  <form method="post" action={to} class="stack">
    {children}
    <Fields {...shown} />
    <button type="submit">{button}</button>
  </form>
);

/** Choices of what the page at `path` shows, submitted on every change. Its children stand below the fields. */
export const ChoiceForm = ({
  path,
  view,
  carry = {},
  children,
  ...shown
}: PropsWithChildren<FieldsProps & Omit<Here, 'view'> & { view: View | null }>) => (
  <form method="get" action={path} class="row" data-submit-on-change>
    <ViewFields view={view} changes={carry} />
    <Fields {...shown} />
    {children}
    <button type="submit" class="quiet" data-apply>
      Apply
    </button>
  </form>
);
