import { DOUBT_RULES, settingOf } from '#catalogue';
import type { Fault } from '#http';
import type { ApplicationRow } from '#teams';
import { Field } from '../../shell/parts.tsx';

const ACTIONS = [
  ['flag', 'Flag'],
  ['exclude', 'Count as organic'],
  ['allow', 'Do not check'],
] as const;

const nameOf = (id: string, part: 'action' | 'threshold') => `install_doubts.${id}.${part}`;

/** The text of the fields. */
export const doubtValues = ({
  installDoubts,
}: Pick<ApplicationRow, 'installDoubts'>): Record<string, string> =>
  Object.fromEntries(
    DOUBT_RULES.flatMap((rule) => {
      const { action, threshold } = settingOf(rule, installDoubts);
      return [
        [nameOf(rule.id, 'action'), action],
        ...(threshold === null ? [] : [[nameOf(rule.id, 'threshold'), String(threshold)]]),
      ];
    }),
  );

/** What happens to installs that each rule doubts. */
export const DoubtFields = ({
  values,
  faults,
}: {
  values: Readonly<Record<string, string>>;
  faults: readonly Fault[];
}) => (
  <>
    <h3 id="doubts">Doubtful installs</h3>
    {DOUBT_RULES.map(({ id, label, threshold }) => (
      <>
        <Field
          label={label}
          name={nameOf(id, 'action')}
          value={values[nameOf(id, 'action')] ?? 'flag'}
          options={ACTIONS}
          faults={faults}
        />
        {threshold && (
          <Field
            label={threshold.label}
            name={nameOf(id, 'threshold')}
            type="number"
            value={values[nameOf(id, 'threshold')] ?? String(threshold.fallback)}
            min={threshold.min}
            max={threshold.max}
            faults={faults}
          />
        )}
      </>
    ))}
  </>
);
