import { ALERT_KINDS } from '#alerts';
import { Field, FoldedCard } from '../shell/parts.tsx';
import { type View, viewQuery } from '../shell/view.ts';
import type { Submitted } from './form.ts';

/** A form per kind of alert, so that each shows its own unit, suggestion and explanation. */
export const NewAlertCard = ({
  view,
  open,
  values,
  faults,
}: Required<Submitted> & { view: View; open: boolean }) => {
  const { currency, timezone } = view.application;
  const units = { percent: '%', hours: 'hours', problems: 'problems', money: currency.toUpperCase() };
  return (
    <FoldedCard title="New alert" open={open}>
      <ul class="alert-kinds">
        {Object.entries(ALERT_KINDS).map(([kind, { label, unit, hint, suggested }]) => {
          const isSubmitted = values.kind === kind;
          const name = `threshold-${kind}`;
          return (
            <li>
              <form method="post" action={`/alerts${viewQuery(view)}`}>
                <input type="hidden" name="kind" value={kind} />
                <Field
                  label={`${label} (${units[unit]})`}
                  subject="The limit"
                  name={name}
                  submitted="threshold"
                  type="number"
                  step="any"
                  value={(isSubmitted ? values.threshold : undefined) ?? String(suggested)}
                  faults={isSubmitted ? faults.map((fault) => ({ ...fault, path: name })) : []}
                  hint={hint}
                  required
                />
                <button type="submit" class="quiet" aria-label={`Add alert: ${label}`}>
                  Add
                </button>
              </form>
            </li>
          );
        })}
      </ul>
      <p class="muted">
        Each alert sends one message when it starts firing and one when it stops. Days in {timezone}.
      </p>
    </FoldedCard>
  );
};
