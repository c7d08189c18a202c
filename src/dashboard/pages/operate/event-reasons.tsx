import type { Child } from 'hono/jsx';
import { type IgnoredReason, PARK_REASON } from '#rollup';

// Why an event was not counted: a sentence for people instead of the recorded text.

const VERSION = /^not an? (message|event|click) of this version: (.*)$/s;

const SENTENCES: Readonly<Record<IgnoredReason | (typeof PARK_REASON)[keyof typeof PARK_REASON], string>> = {
  [PARK_REASON.undelivered]: 'It could not be stored for counting: every attempt failed. Replay it.',
  [PARK_REASON.unlogged]: 'It could not be stored for counting. Replay it.',
  [PARK_REASON.uncounted]: 'Counting it failed. The log of this service has the error.',
  [PARK_REASON.unknownDevice]:
    'The service has lost what it knew of its device. Restore the application from the bucket: the event is then counted.',
  [PARK_REASON.refused]:
    'It was counted, but the database refused to add its sums to the reports. Replay it.',
  [PARK_REASON.newer]:
    'It was counted by a newer release, and the running one cannot add its sums to the reports. Replay it after an upgrade.',
  'test event': 'It is a test event.',
  'sent with a revoked token': 'It was sent with a revoked device token.',
  'its device was erased': 'Its device was erased.',
};

const isRecorded = (reason: string): reason is keyof typeof SENTENCES => Object.hasOwn(SENTENCES, reason);

/** The sentence for a recorded reason, and the recorded text if it says more. Unknown reasons may come from another version of the service. */
function explain(reason: string): { sentence: string; detail: string | null } {
  const [, what, faults] = VERSION.exec(reason) ?? [];
  if (what && faults) {
    return {
      sentence: `Another version of this service queued this ${what}, and the running one cannot read it. Replay it after an upgrade.`,
      detail: faults,
    };
  }
  const sentence = isRecorded(reason) ? SENTENCES[reason] : undefined;
  return sentence ? { sentence, detail: null } : { sentence: 'It could not be counted.', detail: reason };
}

/** Why an event or message was not counted. */
export const Reason = ({ reason }: { reason: string }): Child => {
  const { sentence, detail } = explain(reason);
  return (
    <>
      {sentence}
      {detail !== null && (
        <details>
          <summary>Details</summary>
          <code>{detail}</code>
        </details>
      )}
    </>
  );
};
