import { DOUBT_ACTIONS, DOUBT_RULES, settingOf } from '#catalogue';
import type { ApplicationRow } from '#teams';
import type { FormField } from '../../forms/field.tsx';
import { DOUBT_ACTION_NAMES, optionsOf } from '../../shell/words.ts';

const nameOf = (id: string, part: 'action' | 'threshold') => `fraud_rules.${id}.${part}`;

/** The text of the fields. */
export const doubtValues = ({ fraudRules }: Pick<ApplicationRow, 'fraudRules'>): Record<string, string> =>
  Object.fromEntries(
    DOUBT_RULES.flatMap((rule) => {
      const { action, threshold } = settingOf(rule, fraudRules);
      return [
        [nameOf(rule.id, 'action'), action],
        ...(threshold === null ? [] : [[nameOf(rule.id, 'threshold'), String(threshold)]]),
      ];
    }),
  );

/** The rules that the form has, as the team API's schema has them. */
export function toDoubts(values: Readonly<Record<string, string>>) {
  const rules = DOUBT_RULES.flatMap(({ id, threshold }) => {
    const action = values[nameOf(id, 'action')];
    if (action === undefined) return [];
    const limit = threshold ? { threshold: Number(values[nameOf(id, 'threshold')]) } : {};
    return [[id, { action, ...limit }] as const];
  });
  return rules.length > 0 ? Object.fromEntries(rules) : undefined;
}

/** What happens to installs that each rule doubts. */
export const DOUBT_FIELDS: readonly FormField[] = DOUBT_RULES.flatMap(({ id, label, threshold }) => [
  { label, name: nameOf(id, 'action'), options: optionsOf(DOUBT_ACTIONS, DOUBT_ACTION_NAMES) },
  ...(threshold
    ? [
        {
          label: threshold.label,
          name: nameOf(id, 'threshold'),
          type: 'number',
          min: threshold.min,
          max: threshold.max,
        },
      ]
    : []),
]);

/** What the rules do, such as `4 flag, 1 does not check`. */
export function doubtSummary(values: Readonly<Record<string, string>>): string {
  const actions = DOUBT_RULES.map(({ id }) => values[nameOf(id, 'action')] ?? 'flag');
  const said = DOUBT_ACTIONS.map(
    (action) => [action, actions.filter((one) => one === action).length] as const,
  );
  return said
    .filter(([, rules]) => rules > 0)
    .map(([action, rules]) => `${DOUBT_ACTION_NAMES[action]}: ${rules} ${rules === 1 ? 'rule' : 'rules'}`)
    .join(', ');
}
