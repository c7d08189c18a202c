import * as z from 'zod';
import { EVENT_EXAMPLES, EventEnvelope, SENT_KINDS } from '#catalogue';
import {
  acceptDevices,
  DeviceMetrics,
  deepLinkOf,
  deviceWarnings,
  fetchTokens,
  tokenRequired,
  VerifiedToken,
  verifyToken,
} from '#devices';
import {
  type AppContext,
  addWarnings,
  answerJson,
  type Endpoint,
  EXAMPLE,
  endpoint,
  type Fault,
  noteAbsent,
  requireDataCollection,
} from '#http';
import { acceptBatch, acceptEvent, idempotencyKeyOf } from './accept-events.ts';
import {
  BatchAccepted,
  CollectionStatus,
  EventAccepted,
  FetchTokenFailure,
  Token,
  TokenBatch,
} from './answers.ts';
import { noteRejectedItems } from './rejections.ts';
import { Batch, DeviceBatch, MAX_KEY_LENGTH, VerifyToken } from './requests.ts';

const BATCH_BYTES = 1024 * 1024;

const DEVICE_METRICS = {
  type: 'device-metrics',
  created_at: '2026-03-02T09:00:00.000Z',
  data: {
    device_name: 'Pixel 9',
    device_model: 'Pixel 9',
    os_system: 'Android 16',
    timezone: 'Europe/Berlin',
    dpi: 420,
    window_height: 2424,
    window_width: 1080,
  },
};

const envelope = {
  created_at: '2026-03-02 10:00:00',
  creativeToken: EXAMPLE.token,
  device_name: 'Pixel 9',
  device_model: 'Pixel 9',
  os_system: 'Android 16',
  utc_offset: '+01:00',
  retention_day: '0',
};

/** One event of each kind, as clients send it. */
const EVENTS = Object.fromEntries(
  Object.entries(EVENT_EXAMPLES).map(([name, { type, payload }]) => [name, { type, ...envelope, payload }]),
);

const kinds = SENT_KINDS.map(
  ({ types, description }) => `- ${types.map((type) => `\`${type}\``).join(', ')}: ${description}`,
).join('\n');

const shared = { tag: 'Ingestion', credential: 'apiKey' } as const;

const collectionOff = 'Data collection is switched off for this application.';

const header = z.object({
  'Idempotency-Key': z.string().max(MAX_KEY_LENGTH).optional().meta({
    description: 'A request repeated with the same key succeeds and is counted once.',
  }),
});

function collectionStatus(c: AppContext): CollectionStatus {
  // A cached answer to one origin must not be given to another.
  c.header('Vary', 'Origin');
  return {
    success: true,
    enabled: c.get('application').dataCollection,
    server_time: new Date().toISOString(),
  };
}

/** Notes the placeholders of the accepted items of a batch. */
function noteAbsentInItems(c: AppContext, results: readonly object[]): void {
  const warnings = results.flatMap((result: { warnings?: Fault[] }) => result.warnings ?? []);
  if (warnings.length > 0) noteAbsent(c, c.get('application').id, warnings);
}

export const ingestionEndpoints: Endpoint[] = [
  endpoint({
    ...shared,
    method: 'post',
    path: '/fetch-token',
    summary: 'Register a device and fetch its token',
    description:
      'Call it when a device has no token yet or its token has expired. `created_at` is the time of acquisition, day 0. A request with the same `data.device_id` returns a token for the same device. The header `X-Deep-Link` has what the app opens, if the creative has a `deep_link`. What was dropped or replaced is listed in the header `X-Warnings`, a JSON list of `{path, message}` that is present only if there is any.',
    body: { schema: DeviceMetrics, examples: { device: DEVICE_METRICS } },
    answer: { description: 'The token to send as `creativeToken`.', schema: Token },
    errors: { 403: collectionOff },
    failure: FetchTokenFailure,
    checks: [requireDataCollection],
    async handle(c, { body: metrics }) {
      const application = c.get('application');
      const now = Date.now();
      const [issued] = await fetchTokens(c.env, application, [metrics], now);
      if (issued === undefined) throw new Error('the device got no token');
      const answer = answerJson<Token>(c, { token: issued.token });
      addWarnings(answer, deviceWarnings(metrics, now));
      noteAbsent(c, application.id, metrics.warnings);
      const opened = [metrics.data.creative_token, issued.followedId, issued.creativeId];
      const deepLink = await deepLinkOf(c.env, application.id, opened, (work) =>
        c.executionCtx.waitUntil(work),
      );
      if (deepLink !== null) answer.headers.set('X-Deep-Link', deepLink);
      return answer;
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/fetch-token/batch',
    summary: 'Register up to 200 devices',
    description:
      'For imports. Each item is a body of `/fetch-token` and is processed on its own: a malformed item does not affect the others.',
    body: {
      schema: DeviceBatch,
      examples: { devices: { devices: [DEVICE_METRICS, { type: 'device-metrics' }] } },
    },
    maxBytes: BATCH_BYTES,
    answer: {
      description: 'For each item, its token or what is wrong with it.',
      schema: TokenBatch,
    },
    errors: { 403: collectionOff },
    checks: [requireDataCollection],
    async handle(c, { body: { devices, import: isImport } }) {
      const results = await acceptDevices(c.env, c.get('application'), devices, isImport, Date.now());
      const accepted = results.filter((result) => 'token' in result).length;
      const rejected = results.length - accepted;
      if (rejected > 0) noteRejectedItems(c, devices, results);
      noteAbsentInItems(c, results);
      return answerJson<TokenBatch>(c, { success: true, accepted, rejected, results });
    },
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/verify-token',
    summary: 'Verify a token',
    body: { schema: VerifyToken, examples: { token: { token: EXAMPLE.token } } },
    answer: {
      description: 'The token is genuine and neither expired nor revoked.',
      schema: VerifiedToken,
    },
    errors: { 403: 'The token belongs to another application.' },
    async handle(c, { body: { token } }) {
      if (typeof token !== 'string' || token.trim() === '') throw tokenRequired();
      return verifyToken(c.env, c.get('application').id, token.trim(), Date.now());
    },
  }),
  endpoint({
    ...shared,
    method: 'get',
    path: '/check-data-collection-status',
    summary: 'Check whether data collection is switched on',
    answer: {
      description: 'Whether the application collects data.',
      schema: CollectionStatus,
    },
    handle: collectionStatus,
  }),
  endpoint({
    ...shared,
    credential: 'apiOrBearerKey',
    method: 'get',
    path: '/auth',
    summary: 'Verify an API key',
    description:
      'Returns the same as `/check-data-collection-status`, for SDK editors. Some send the API key in the API key header, others as a bearer token.',
    answer: { description: 'The API key is valid.', schema: CollectionStatus },
    handle: collectionStatus,
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/webhook',
    summary: 'Send an event',
    description: `Responds once the event is stored durably.

An event is a repeat, and is counted once, if one of its keys has been seen before. Its keys are the header \`Idempotency-Key\`, \`event_id\` (or \`eid\`), \`dedupe_key\` (or \`dk\`) and the \`tr_id\` of a purchase. Keys of a purchase match at any time; a failed purchase and a successful one never match. All other keys match events whose \`created_at\` is on the same day or an adjacent one. Without a key, every request is a separate event.

A \`custom.purchase\` with the status \`refunded\` takes back \`value\` of the purchase with the same \`tr_id\`, or all of it without a value; \`refund_reversed\` puts it back. It may arrive before its purchase, and must be sent with the token of the device that purchased. Its key is the \`tr_id\` with the value and \`created_at\`; a \`dedupe_key\` that equals the \`tr_id\` is not a key of a refund.

\`type\`, \`created_at\`, \`creativeToken\` and the value, currency and status of a purchase must be valid. Any other malformed field is dropped and listed in \`warnings\`. Events with \`dev: true\` are test events: they are stored but counted in no report.

The payload depends on \`type\`:

${kinds}`,
    header,
    body: { schema: EventEnvelope, examples: EVENTS },
    answer: { description: 'The event was accepted.', schema: EventAccepted },
    errors: { 403: `The token belongs to another application, or data collection is switched off.` },
    checks: [requireDataCollection],
    handle: acceptEvent,
  }),
  endpoint({
    ...shared,
    method: 'post',
    path: '/webhook/batch',
    summary: 'Send up to 500 events',
    description:
      'Each event is processed on its own: a malformed event does not affect the others. A batch costs far fewer queue operations than single events. The header `Idempotency-Key` names the batch: together with its content, it is the key of every event that has no key of its own. You can therefore correct a batch and send it again.',
    header,
    body: {
      schema: Batch,
      examples: { events: { events: [EVENTS['custom.ad'], EVENTS.retention, { type: 'custom' }] } },
    },
    maxBytes: BATCH_BYTES,
    answer: {
      description: 'For each event, its id or what is wrong with it.',
      schema: BatchAccepted,
    },
    errors: { 403: collectionOff },
    checks: [requireDataCollection],
    async handle(c, { body: { events, import: isImport } }) {
      const sending = { header: idempotencyKeyOf(c), isImport };
      const results = await acceptBatch(c.env, c.get('application'), events, sending, Date.now());
      const accepted = results.filter((result) => 'event_id' in result).length;
      const rejected = results.length - accepted;
      if (rejected > 0) noteRejectedItems(c, events, results);
      noteAbsentInItems(c, results);
      return answerJson<BatchAccepted>(c, { success: true, accepted, rejected, results });
    },
  }),
];
