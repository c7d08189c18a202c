import type { Fault } from '#http';

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
