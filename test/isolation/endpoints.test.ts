import { beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLE } from '#http';
import { EXAMPLES, type Example, filled, pathOf, send } from './requests.ts';
import { createApplications, fillSides, marksOf, type Side, type Sides, worker } from './sides.ts';
import { answersTo, differences, marksIn, storedOf } from './visible.ts';

// Every documented endpoint, with every example of its record, asked for what another team or application has. A new endpoint is among them.

let sides: Sides;

beforeAll(async () => {
  sides = await fillSides(await createApplications());
}, 300_000);

const textOf = ({ endpoint, body = '' }: Example, things: Side['things']) =>
  `${decodeURIComponent(pathOf(endpoint, things))} ${filled(body, things)}`;

it('has a real thing for each id of an example', () => {
  for (const example of EXAMPLES) {
    const text = textOf(example, sides.ours.things);
    const invented = Object.entries(EXAMPLE).filter(([, id]) => text.includes(id));
    expect(invented, `${example.endpoint.path}: make one in sides.ts`).toEqual([]);
    const ids = text.match(/\b[a-z]{3}_[0-9a-f]{32}\b/g) ?? [];
    const marks = marksOf(sides.ours).join();
    expect(ids.filter((id) => !marks.includes(id))).toEqual([]);
  }
});

/** The endpoints that do not refuse a request for what another one has, and how they answer it instead. */
const INSTEAD: Readonly<Record<string, RegExp>> = {
  // Each item is refused by itself.
  'post /webhook/batch': /"accepted":0/,
  // Any id of this time may be of an event that is not counted yet.
  'get /v1/events/{event_id}': /^{"event_id":"\w+","received_at":"[^"]+","status":"queued"}$/,
  // A filter by a creative that the application does not have finds nothing.
  'get /v1/reports/doubts': /^(?!.*"\w*installs":[1-9])/,
};

/** The examples that a side cannot send, because the service cannot take them here. */
const NOT_SENT: Readonly<Record<string, string>> = {
  'post /.well-known/appattribution/report-attribution': 'has no example: Apple alone can sign one',
  'post /stores/apple/{secret}': 'Apple alone can sign one',
  'post /stores/google/{secret}': 'Google alone can sign one',
  'post /stores/revenuecat/{secret}': 'its Authorization is a setting, not a credential of the document',
  'get /v1/app-store-apps': 'an owner of the first team alone may',
  'put /v1/app-store-apps/{app_store_id}': 'an owner of the first team alone may',
  'post /v1/connectors/{connector_id}/backfill': 'its period ends today',
};

const routeOf = ({ endpoint }: Example) => `${endpoint.method} ${endpoint.path}`;

type Asked = { as: 'ours'; of: 'theirs' | 'sibling'; within: boolean };

async function ask(example: Example, { as, of, within }: Asked) {
  const [own, other] = [sides[as], sides[of]];
  const { application, apiKey } = own.things;
  const things = within ? { ...other.things, application, apiKey } : other.things;
  const text = textOf(example, things);
  const sent = marksOf(other).filter((mark) => text.includes(mark));
  const isOfApplication = text.includes(application) || example.endpoint.credential?.startsWith('api');
  // Who has a public address may use it, and a team may use an id of each of its applications.
  const isAllowed = within ? !isOfApplication : example.endpoint.credential === null;
  if (sent.length === 0 || isAllowed) return;
  const before = await storedOf(other, { withTeam: of === 'theirs' });
  const answer = await send(example.endpoint, own, things, example);
  await worker.deliver(worker.queue.take());
  const body = await answer.text();
  expect(marksIn(body, other, sent)).toEqual([]);
  expect(differences(before, await storedOf(other, { withTeam: of === 'theirs' }))).toEqual([]);
  expect(answer.status).toBeLessThan(500);
  if (answer.status < 400) expect(body).toMatch(INSTEAD[routeOf(example)] ?? 'a refusal');
}

describe.each([
  ['another team’s', { as: 'ours', of: 'theirs', within: false }],
  ['another team’s within the own application', { as: 'ours', of: 'theirs', within: true }],
  ['another application’s within the own one', { as: 'ours', of: 'sibling', within: true }],
] satisfies [string, Asked][])('%s things stay unseen and untouched by', (_, asked) => {
  it.each(EXAMPLES.map((example) => [`${routeOf(example)} ${example.name}`, example] as const))(
    '%s',
    (_, example) => ask(example, asked),
  );
});

it('leaves others as they are whatever is done with the own things', async () => {
  const { ours, sibling, theirs } = sides;
  const seen = async () => ({
    ...(await answersTo(theirs)),
    ...(await storedOf(theirs)),
    ...(await storedOf(sibling, { withTeam: false })),
  });
  const before = await seen();
  for (const example of EXAMPLES) {
    const answer = await send(example.endpoint, ours, ours.things, example);
    const isTaken = answer.status < 400 || routeOf(example) in NOT_SENT;
    expect(isTaken, `${routeOf(example)} ${example.name}: ${await answer.text()}`).toBe(true);
  }
  await worker.deliver(worker.queue.take());
  expect(differences(before, await seen())).toEqual([]);
});
