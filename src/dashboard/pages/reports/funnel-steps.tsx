import { FUNNEL_STEPS } from '#catalogue';
import type { Fault } from '#http';
import { Field } from '../../forms/field.tsx';
import { Fields } from '../../forms/fields.tsx';
import { FormMenu } from '../../shell/parts.tsx';
import { ViewFields } from '../../shell/report.tsx';
import type { View } from '../../shell/view.ts';
import { DEVICE_GROUPINGS } from '../../tables/groups.tsx';

/** The most steps of a funnel. */
export const MAX_STEPS = 6;
export const DEFAULT_STEPS = ['install', 'ad', 'purchase'];
const WINDOWS = [
  ['', 'Any time'],
  ['1', '1 hour'],
  ['24', '1 day'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const;

/** The time for all steps in words. */
export const windowText = (hours: string): string =>
  WINDOWS.find(([known]) => known === hours)?.[1] ?? `${hours} hours`;

export const labelOf = (step: string) => FUNNEL_STEPS[step] ?? step.replace(/^event:/, '');

/** The API separates steps by commas, so a comma within a name is percent-encoded. */
export const toStep = (step: string) => step.replaceAll(',', '%2c');
export const fromStep = (step: string) => step.replaceAll(/%2c/gi, ',');

const stepOptions = (offered: readonly string[]) => offered.map((step) => [step, labelOf(step)] as const);

/** The form's field of a part of the query. */
const fieldOf = (path: string): string =>
  path
    .replace(/^steps(?:\.(\d+))?$/, (_, at) => `step-${at ?? 0}`)
    .replace('window_hours', 'window')
    .replace('group_by', 'group');

/** Chooses the steps, the time for them and the groups. */
export const StepsForm = ({
  view,
  steps,
  offered,
  window,
  group,
  faults,
}: {
  view: View;
  steps: readonly string[];
  offered: readonly string[];
  window: string;
  group: string;
  faults: readonly Fault[];
}) => (
  <form method="get" action="/funnels" class="stack">
    <ViewFields view={view} />
    <Fields
      fields={[
        ...steps.map((step, index) => ({
          label: `Step ${index + 1}`,
          name: `step-${index}`,
          submitted: 'step',
          value: step,
          options: [...(index > 0 ? [['', 'None'] as const] : []), ...stepOptions(offered)],
        })),
        {
          label: 'Within',
          name: 'window',
          value: window,
          hint: 'After the first step',
          options: WINDOWS.some(([hours]) => hours === window)
            ? WINDOWS
            : [...WINDOWS, [window, windowText(window)]],
        },
        { label: 'Group by', name: 'group', value: group, options: [['', 'Nothing'], ...DEVICE_GROUPINGS] },
      ]}
      faults={faults.map(({ path, message }) => ({ path: fieldOf(path), message }))}
    />
    <button type="submit">Apply</button>
  </form>
);

/** Adds a step after the last one. */
export const AddStep = ({
  view,
  carry,
  offered,
}: {
  view: View;
  carry: Readonly<Record<string, string>>;
  offered: readonly string[];
}) => (
  <FormMenu label="+ Add a step" id="add-step" kind="quiet" from="left">
    <form method="get" action="/funnels" class="stack">
      <ViewFields view={view} changes={carry} />
      <Field label="Next step" name="step-next" submitted="next" options={stepOptions(offered)} />
      <button type="submit">Add</button>
    </form>
  </FormMenu>
);
