import type { Fetch } from '#lib/input/fetch';
import { hideSecrets } from '#lib/input/hide-secrets';
import { type Resolve, receiverFault, resolvingOnce } from '#lib/input/private-name';
import { logError } from '#lib/log';
import type {
  DeliveryOutcome,
  DestinationKind,
  DestinationSetup,
  OutboundEvent,
  PreparedRequest,
} from '#networks/outbound';
import { kindOf } from '../kinds.ts';
import type { Delivered, SenderSetup } from './api.ts';
import { toAttempt } from './attempt.ts';
import { type SendAnswer, sendOne } from './send-one.ts';

/** Checks the URL of a request, because what was saved may have been checked by an earlier release, and templates make others of it. */
async function checked(
  prepared: PreparedRequest,
  allowsLocal: boolean,
  resolve: Resolve,
): Promise<PreparedRequest> {
  if (!('url' in prepared)) return prepared;
  const fault = await receiverFault(prepared.url, { ports: '443', allowsLocal }, resolve);
  return fault === null ? prepared : { skipped: `The URL ${fault}` };
}

/** What an answer means. An event is sent again if there is none. */
function readAnswer({ read }: DestinationKind, answer: SendAnswer, now: number): DeliveryOutcome {
  if (answer.status === null) return { isDelivered: false, reason: answer.reason, retry: true };
  const { status, body } = answer;
  return read({ status, headers: new Headers(answer.headers), body }, now);
}

/** An answer without the destination's credentials, which networks quote in their errors. */
function withoutCredentials(answer: SendAnswer, { credentials, secrets }: DestinationSetup): SendAnswer {
  const own = [...Object.values(credentials), ...secrets];
  // An error of the connection may name the URL.
  if (answer.status === null) return { ...answer, reason: hideSecrets(answer.reason, own) };
  return { ...answer, body: hideSecrets(answer.body, own) };
}

async function deliverOne(
  event: OutboundEvent,
  { kind: name, given, allowsLocal }: SenderSetup,
  fetcher: Fetch,
  resolve: Resolve,
): Promise<Delivered> {
  const at = Date.now();
  const kind = kindOf(name);
  const { prepare } = kind;
  const prepared = await checked(await prepare(event, given, at), allowsLocal, resolve);
  if ('skipped' in prepared) return prepared;
  const answer = withoutCredentials(await sendOne(prepared, fetcher), given);
  const outcome = readAnswer(kind, answer, Date.now());
  return { attempt: toAttempt(prepared, answer, outcome, at), outcome };
}

/** Prepares and sends some events at the same time. Does not throw: one event must not hold up the others. */
export function deliverAll(
  events: readonly OutboundEvent[],
  setup: SenderSetup,
  fetcher: Fetch,
  resolve?: Resolve,
): Promise<Delivered[]> {
  const lookUp = resolvingOnce(resolve);
  return Promise.all(
    events.map((event) =>
      deliverOne(event, setup, fetcher, lookUp).catch((error): Delivered => {
        logError('event not prepared', error, { event_id: event.id });
        return { skipped: 'The request could not be prepared' };
      }),
    ),
  );
}
