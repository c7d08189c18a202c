import type { PropsWithChildren } from 'hono/jsx';
import type { Fault } from '#http';
import type { FormField } from './field.tsx';
import { Fields } from './fields.tsx';

/** Whether one of the faults is about one of these fields. */
const hasFault = (faults: readonly Fault[], fields: readonly FormField[]): boolean =>
  fields.some(({ name }) => faults.some(({ path }) => path === name));

/**
 * A part of a long form, which says what its fields contain while it is closed. One with a fault is open. `id` is on its content, so that browsers
 * open the section of an address that names it.
 */
export const FormSection = ({
  title,
  id,
  says,
  fields,
  values,
  faults,
  open = false,
  children,
}: PropsWithChildren<{
  title: string;
  id: string;
  says: string;
  fields: readonly FormField[];
  values: Readonly<Record<string, string>>;
  faults: readonly Fault[];
  open?: boolean;
}>) => (
  <details class="section" open={open || hasFault(faults, fields)}>
    <summary>
      <h3>{title}</h3>
      <span class="muted">
        <bdi>{says}</bdi>
      </span>
    </summary>
    <div class="stack" id={id}>
      <Fields fields={fields} values={values} faults={faults} />
      {children}
    </div>
  </details>
);
